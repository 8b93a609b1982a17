import type { NodeMetadata } from './bootstrap-inputs.ts';
import type { Json } from './proto-json.ts';
import { parseBoolean } from '../../shared/text/value.ts';
import { ownClusterName } from '../../shared/xds/own-cluster-name.ts';

/**
 * Returns whether Envoy learns where the other proxies of its workload are. It needs that to prefer
 * the endpoints of its own zone. Set by `ISTIO_META_ENABLE_SELF_DISCOVERY`. Pure.
 */
export const discoversItself = ({ ENABLE_SELF_DISCOVERY: given }: NodeMetadata): boolean =>
  typeof given === 'string' && parseBoolean(given) === true;

/**
 * The cluster of the workload itself. A control plane that does not know the name never answers;
 * Envoy waits 1 s for the answer at each start.
 */
export const ownCluster: Json = {
  name: ownClusterName,
  type: 'EDS',
  eds_cluster_config: {
    eds_config: { ads: {}, initial_fetch_timeout: '1s', resource_api_version: 'V3' },
  },
};
