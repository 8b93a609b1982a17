import { sdsClusterName } from '../../shared/xds/secret-names.ts';
import { type Json, typedConfig } from './proto-json.ts';

/**
 * Returns the cluster (v3) that leads Envoy to the secret discovery server on the Unix socket
 * `path`. Pure.
 */
export function sdsCluster(path: string): Json {
  return socketCluster(sdsClusterName, path);
}

/** Returns a cluster with one gRPC server on a Unix socket. Pure. */
export function socketCluster(name: string, path: string): Json {
  const endpoint = { endpoint: { address: { pipe: { path } } } };
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typedConfig(
        'extensions.upstreams.http.v3.HttpProtocolOptions',
        { explicit_http_config: { http2_protocol_options: {} } },
      ),
    },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] },
  };
}

/**
 * Returns an `SdsSecretConfig` (v3): the secret with this name, from the cluster of `sdsCluster`.
 * Envoy waits for it without a limit, instead of serving without it. Pure.
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
