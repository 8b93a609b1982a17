import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { TypedView } from './view.ts';

/**
 * The resources of Istio that another control plane reads, in one snapshot. Parts that are equal in
 * two snapshots are the same object.
 */
export interface ConfigView {
  /** The number of the snapshot; a newer one is greater. */
  readonly snapshot: number;
  /** By type URL: each kind that is served. */
  readonly types: ReadonlyMap<string, TypedView>;
}

/** Whether a node is a control plane that reads resources of Istio, and no proxy. Pure. */
export const isConfigClient = ({ metadata }: Pick<Node, 'metadata'>): boolean =>
  metadata?.['GENERATOR'] === 'api';
