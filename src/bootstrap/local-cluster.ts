import type { Json } from './json.ts';

/** A cluster of one port on this machine. Pure. */
export function localCluster(name: string, address: string, port: number): Json {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '0.250s',
    lb_policy: 'ROUND_ROBIN',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address, port_value: port } } } }] }],
    },
  };
}
