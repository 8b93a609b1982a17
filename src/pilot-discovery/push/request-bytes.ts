import { isUtf8 } from 'node:buffer';
import { clientLimits } from './client-limits.ts';

/**
 * Envoy names each cluster whose endpoints it asks for. Its node has labels, annotations, and its
 * configuration.
 */
const [mostNames, largestNode] = [clientLimits.names.value, clientLimits.node.value];

/** The number of the field `node`: 2 in a DiscoveryRequest, 1 in a DeltaDiscoveryRequest. */
export type NodeField = 1 | 2;

/** The part of a request in which all its names are, one after the other. */
export interface NamesPart {
  readonly from: number;
  readonly to: number;
}

export type ScannedRequest =
  | { readonly type: 'refused'; readonly reason: string }
  /** `names` is undefined if there are few, or if they are not in one part. */
  | { readonly type: 'message'; readonly names: NamesPart | undefined };

/** The number of the field `resource_names` of a DiscoveryRequest. */
const namesField = 3;
/** Fewer names are decoded as fast as they are compared. */
const manyNames = 16;

/** https://protobuf.dev/programming-guides/encoding/#structure */
const wireTypes = { varint: 0, eightBytes: 1, delimited: 2, fourBytes: 5 };

/**
 * Finds the names in the bytes of a request, or why they cannot come from a proxy. Counts the
 * entries of each list before anything is decoded: 4 MB may be a million names. Bytes that are not
 * a message are left to the decoder. Pure.
 */
export function scanRequest(bytes: Uint8Array, nodeField: NodeField): ScannedRequest {
  const cursor = new WireCursor(bytes);
  const counts = new Map<number, number>();
  let node = 0; // of all fields with the node: a decoder merges them
  let [names, from, to] = [0, 0, 0];
  let isOnePart = nodeField === 2;
  while (cursor.pos < bytes.length) {
    const begun = cursor.pos;
    const tag = cursor.varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    const content = cursor.pos;
    if (!cursor.skip(type)) return refused(`its field ${field} is a group, which no proxy sends`);
    const count = field === namesField ? (names += 1) : (counts.get(field) ?? 0) + 1;
    if (count > mostNames)
      return refused(`it names more than ${mostNames} resources, which is the limit`);
    if (field !== namesField) {
      counts.set(field, count);
      if (field === nodeField && type === wireTypes.delimited) node += cursor.pos - content;
      if (node > largestNode)
        return refused(`its node has ${node} bytes, and the limit is ${largestNode}`);
      continue;
    }
    isOnePart &&= type === wireTypes.delimited && (names === 1 || to === begun);
    if (names === 1) from = begun;
    to = cursor.pos;
  }
  const isMessage = cursor.pos === bytes.length;
  // If it is not UTF-8, the decoder has to say so.
  return isMessage && isOnePart && names >= manyNames && isUtf8(bytes.subarray(from, to))
    ? { type: 'message', names: { from, to } }
    : { type: 'message', names: undefined };
}

const refused = (reason: string): ScannedRequest => ({ type: 'refused', reason });

/** Skips the fields of a message. If the bytes are not a message, `pos` is not a number. */
class WireCursor {
  pos = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Reads a number; NaN if there is none. */
  varint(): number {
    let [value, scale] = [0, 1];
    for (let length = 0; length < 10; length += 1) {
      const byte = this.#bytes[this.pos];
      if (byte === undefined) break;
      this.pos += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    this.pos = NaN;
    return NaN;
  }

  /** Skips the content of a field. Returns false for a type that no proxy sends (a group). */
  skip(type: number): boolean {
    switch (type) {
      case wireTypes.varint:
        this.varint();
        return true;
      case wireTypes.eightBytes:
        this.pos += 8;
        return true;
      case wireTypes.delimited: {
        const length = this.varint();
        this.pos += length;
        return true;
      }
      case wireTypes.fourBytes:
        this.pos += 4;
        return true;
      default:
        return Number.isNaN(type);
    }
  }
}
