import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { clientLimits } from './client-limits.ts';

/**
 * Envoy names each cluster whose endpoints it asks for. Of itself it says labels, annotations, and
 * its configuration.
 */
const [mostNames, largestNode] = [clientLimits.names.value, clientLimits.node.value];

/** The field of the node, in a DiscoveryRequest and in a DeltaDiscoveryRequest. */
export type NodeField = 1 | 2;

/**
 * Why the bytes of a request are no proxy's; undefined if they may be. Counts what is in each list
 * before anything is decoded: 4 MB may be a million names. Bytes that are no message are left to
 * whoever decodes them. Pure.
 */
export function bytesFlaw(bytes: Uint8Array, nodeField: NodeField): string | undefined {
  const reader = new BinaryReader(bytes);
  const counts = new Map<number, number>();
  let node = 0; // one that is there twice is merged
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const begun = reader.pos;
      reader.skip(type, field);
      const count = (counts.get(field) ?? 0) + 1;
      counts.set(field, count);
      if (count > mostNames) return `it names more than ${mostNames} resources, which is the limit`;
      if (field === nodeField && type === WireType.LengthDelimited) node += reader.pos - begun;
      if (node > largestNode)
        return `what it says of its node has ${node} bytes, and ${largestNode} are the limit`;
    }
  } catch {
    return undefined;
  }
  return undefined;
}
