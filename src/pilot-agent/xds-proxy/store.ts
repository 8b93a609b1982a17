// Why: docs/decisions/040-stored-configuration-is-a-fallback.md
import { createHash } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { readOutsideSync } from '../../shared/files/outside-file.ts';
import { remove, writeWhole } from '../../shared/files/whole-file.ts';
import { XdsStoreSchema } from '../../shared/proto/pilotagent/v1/xds_store_pb.ts';
import type { LastGood } from './last-good.ts';

/** The largest configuration that is stored, in bytes. */
const largest = 64 << 20;
/** The sha256 in front of the message. In bytes. */
const sumLength = 32;

/**
 * The result of reading the disk: a configuration for this proxy, nothing, or why it is ignored.
 */
type Stored =
  | { readonly kind: 'good'; readonly good: LastGood }
  | { readonly kind: 'none' }
  | { readonly kind: 'ignored'; readonly reason: string };

/** The last good configuration on disk, in one file, for one node and one control plane. */
export interface LastGoodStore {
  read(): Stored;
  /**
   * Writes it as a whole, mode 0600; returns why it could not. If it is too large, the file is
   * removed.
   */
  write(good: LastGood): string | undefined;
}

/**
 * Returns the store at `path`. Synchronous; never throws.
 *
 * @param nodeId the proxy that it is for
 * @param controlPlane `host:port`
 */
export function store(path: string, nodeId: string, controlPlane: string): LastGoodStore {
  return {
    read() {
      const file = readOutsideSync(path, largest + sumLength);
      if (file.kind !== 'read')
        return file.kind === 'absent' ? { kind: 'none' } : { kind: 'ignored', reason: file.reason };
      const { bytes } = file;
      const message = bytes.subarray(sumLength);
      if (!sumOf(message).equals(bytes.subarray(0, sumLength)))
        return { kind: 'ignored', reason: 'it is damaged' };
      return stored(message, nodeId, controlPlane);
    },
    write(good) {
      const message = toBinary(
        XdsStoreSchema,
        create(XdsStoreSchema, {
          nodeId: good.nodeId,
          controlPlane,
          confirmedAt: BigInt(Math.round(good.confirmedAt)),
          types: [...good.types].map(([typeUrl, { version, resources, absent }]) => ({
            typeUrl,
            version,
            resources: [...resources.values()],
            absent: [...absent],
          })),
        }),
      );
      if (message.length > largest) {
        remove(path);
        return `it has ${message.length} bytes, and ${largest} are kept at most`;
      }
      try {
        writeWhole(path, Buffer.concat([sumOf(message), message]));
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
}

function sumOf(message: Uint8Array): Buffer {
  return createHash('sha256').update(message).digest();
}

function stored(message: Uint8Array, nodeId: string, controlPlane: string): Stored {
  let read;
  try {
    read = fromBinary(XdsStoreSchema, message);
  } catch (error) {
    return { kind: 'ignored', reason: `it is not understood: ${(error as Error).message}` };
  }
  if (read.nodeId !== nodeId)
    return { kind: 'ignored', reason: `it is for another node, ${read.nodeId}` };
  if (read.controlPlane !== controlPlane)
    return { kind: 'ignored', reason: `it is from another control plane, ${read.controlPlane}` };
  const types = read.types.map(
    ({ typeUrl, version, resources, absent }) =>
      [
        typeUrl,
        {
          version,
          resources: new Map(resources.map((resource) => [resource.name, resource])),
          absent: new Set(absent),
        },
      ] as const,
  );
  return {
    kind: 'good',
    good: { types: new Map(types), nodeId, confirmedAt: Number(read.confirmedAt) },
  };
}
