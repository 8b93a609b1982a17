import type { Json } from './json.ts';
import { typedConfig } from './typed-config.ts';

export interface ForwardingListener {
  /**
   * Of the listener, and what its statistics are named after: `stats` and `agent`.
   *
   * A drain does not count what is in flight on these two (`src/proxy/active-requests.ts`).
   */
  readonly name: 'stats' | 'agent';
  readonly address: string;
  readonly port: number;
  readonly path: string;
  readonly cluster: string;
}

/** A listener that passes one path on to a cluster, and has nothing else to say. Pure. */
export function forwardingListener({ name, address, port, path, cluster }: ForwardingListener): Json {
  const manager = typedConfig('extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    codec_type: 'AUTO',
    stat_prefix: name,
    route_config: {
      virtual_hosts: [{ name: 'backend', domains: ['*'], routes: [{ match: { prefix: path }, route: { cluster } }] }],
    },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: typedConfig('extensions.filters.http.router.v3.Router') }],
  });
  return {
    name,
    stat_prefix: name,
    address: { socket_address: { address, port_value: port } },
    filter_chains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] }],
  };
}
