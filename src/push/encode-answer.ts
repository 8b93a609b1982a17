import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Variant } from '../xds/messages.ts';
import type { Answer } from './proxy-stream.ts';
import type { XdsResource } from './view.ts';

/** Of `resources` in an answer: an Any, and the entry of the incremental variant around it. */
interface Encoded {
  readonly any: Uint8Array;
  readonly entry: Uint8Array;
}

const encoded = new WeakMap<XdsResource, Encoded>();

/** Each resource is encoded once, however many proxies are given it. */
function encodedOf(typeUrl: string, resource: XdsResource): Encoded {
  const known = encoded.get(resource);
  if (known !== undefined) return known;
  // google.protobuf.Any
  const any = new BinaryWriter().tag(1, WireType.LengthDelimited).string(typeUrl).tag(2, WireType.LengthDelimited).bytes(resource.body).finish(); // prettier-ignore
  // envoy.service.discovery.v3.Resource
  const entry = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(resource.version)
    .tag(2, WireType.LengthDelimited)
    .bytes(any)
    .tag(3, WireType.LengthDelimited)
    .string(resource.name)
    .finish();
  const made = { any, entry };
  encoded.set(resource, made);
  return made;
}

/**
 * An answer as the bytes of a DiscoveryResponse, or of a DeltaDiscoveryResponse (xDS v3).
 *
 * @param controlPlane what the control plane calls itself
 */
function encodeAnswer({ typeUrl, nonce, version, resources, removed }: Answer, variant: Variant, controlPlane: string): Buffer {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(version);
  const isDelta = variant === 'delta';
  for (const resource of resources) {
    const { any, entry } = encodedOf(typeUrl, resource);
    writer.tag(2, WireType.LengthDelimited).bytes(isDelta ? entry : any);
  }
  writer.tag(4, WireType.LengthDelimited).string(typeUrl).tag(5, WireType.LengthDelimited).string(nonce);
  for (const name of removed) writer.tag(6, WireType.LengthDelimited).string(name);
  const identifier = new BinaryWriter().tag(1, WireType.LengthDelimited).string(controlPlane).finish();
  const bytes = writer
    .tag(isDelta ? 7 : 6, WireType.LengthDelimited)
    .bytes(identifier)
    .finish();
  // A copy of a short answer would keep the 8 KB of Node's pool that it is in.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Of answers that may be given to more proxies, so many are kept, and so many bytes. */
const most = { answers: 1_000, bytes: 64 * 1024 * 1024 };

/** Encodes answers; an answer that several proxies are given is encoded once. */
export function answerEncoder(controlPlane: string): (answer: Answer, variant: Variant) => Buffer {
  const kept = new Map<string, Buffer>();
  let size = 0;
  return (answer, variant) => {
    const key = `${variant}${answer.nonce}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = encodeAnswer(answer, variant, controlPlane);
    kept.set(key, made);
    size += made.length;
    for (const [oldest, { length }] of kept) {
      if (kept.size <= most.answers && size <= most.bytes) break;
      kept.delete(oldest);
      size -= length;
    }
    return made;
  };
}
