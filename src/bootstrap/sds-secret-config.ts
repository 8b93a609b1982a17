import type { Json } from './json.ts';
import { sdsClusterName } from './sds-cluster.ts';

/**
 * An `SdsSecretConfig` (v3): the secret of this name, from the cluster of `sdsCluster`. Envoy waits for it without a limit, instead of
 * serving without it. Pure.
 */
export function sdsSecretConfig(name: string): Json {
  return {
    name,
    sds_config: {
      resource_api_version: 'V3',
      initial_fetch_timeout: '0s',
      api_config_source: {
        api_type: 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: sdsClusterName } }],
      },
    },
  };
}
