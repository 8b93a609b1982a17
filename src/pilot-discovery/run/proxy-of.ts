import { fromBinary } from '@bufbuild/protobuf';
import type { ProxyNode } from '../generate/scope/proxy-node.ts';
import { readNode } from '../generate/scope/read-node.ts';
import { LocalitySchema } from '../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';

/** Returns the proxy that a node describes; as a text, why the node is not valid. Pure. */
export function proxyOf({
  id,
  cluster,
  metadata,
  locality,
}: Pick<Node, 'id' | 'cluster' | 'metadata' | 'locality'>): ProxyNode | string {
  const place = localityOf(locality);
  return place === undefined
    ? `the locality of the node '${id.slice(0, 200)}' cannot be decoded`
    : readNode({ id, cluster, metadata }, place);
}

/** Returns `region/zone/subzone`; '' if the proxy has none, undefined if it cannot be decoded. */
function localityOf(locality: Uint8Array): string | undefined {
  if (locality.length === 0) return '';
  try {
    const { region, zone, subZone } = fromBinary(LocalitySchema, locality);
    return `${region}/${zone}/${subZone}`;
  } catch {
    return undefined;
  }
}
