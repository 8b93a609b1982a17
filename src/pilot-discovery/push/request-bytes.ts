import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { clientLimits } from './client-limits.ts';

/**
 * Envoy names each cluster whose endpoints it asks for. Its node has labels, annotations, and its
 * configuration.
 */
const [mostNames, largestNode] = [clientLimits.names.value, clientLimits.node.value];

/** The number of the field `node`: 2 in a DiscoveryRequest, 1 in a DeltaDiscoveryRequest. */
export type NodeField = 1 | 2;

/**
 * Returns why the bytes of a request cannot come from a proxy; undefined if they can. Counts the
 * entries of each list before anything is decoded: 4 MB may be a million names. Bytes that are not
 * a message are left to the decoder. Pure.
 */
export function bytesFlaw(bytes: Uint8Array, nodeField: NodeField): string | undefined {
  const reader = new BinaryReader(bytes);
  const counts = new Map<number, number>();
  let node = 0; // of all its fields, which a decoder merges
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const begun = reader.pos;
      reader.skip(type, field);
      const count = (counts.get(field) ?? 0) + 1;
      counts.set(field, count);
      if (count > mostNames) return `it names more than ${mostNames} resources, which is the limit`;
      if (field === nodeField && type === WireType.LengthDelimited) node += reader.pos - begun;
      if (node > largestNode) return `its node has ${node} bytes, and ${largestNode} are the limit`;
    }
  } catch {
    return undefined;
  }
  return undefined;
}
