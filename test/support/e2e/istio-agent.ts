import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The script that unpacks a real program and prints its path. */
const getPeer = resolve('../shared/peers/get');
/** Whether Istio's own agent is available. */
export const hasIstioAgent = existsSync(getPeer);

/** Istio's own agent in the folder of a pod. */
export interface IstioAgent {
  readonly program: string;
  /** The template from which it makes the bootstrap of Envoy. */
  readonly template: string;
}

const version = { resource_api_version: 'V3' };
const grpc = (name: string, pipe: string) => ({
  name,
  type: 'STATIC',
  connect_timeout: '1s',
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path: pipe } } } }] }],
  },
});

/** Puts Istio's agent 1.30 and a template into the folder of a pod. */
export function istioAgent(folder: string, configPath: string): IstioAgent {
  const [program, template] = [join(folder, 'pilot-agent'), join(folder, 'bootstrap.tmpl')];
  copyFileSync(execFileSync(getPeer, ['pilot-agent-1.30'], { encoding: 'utf8' }).trim(), program);
  const bootstrap = {
    node: { id: '{{ .nodeID }}', cluster: '{{ .cluster }}', metadata: 'METADATA' },
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 15_000 } } },
    dynamic_resources: {
      lds_config: { ads: {}, initial_fetch_timeout: '0s', ...version },
      cds_config: { ads: {}, initial_fetch_timeout: '0s', ...version },
      ads_config: {
        api_type: '{{ .xds_type }}',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
      },
    },
    static_resources: {
      clusters: [
        grpc('xds-grpc', join(configPath, 'XDS')),
        grpc('sds-grpc', './var/run/secrets/workload-spiffe-uds/socket'),
      ],
    },
  };
  // The metadata is a JSON object, not a string.
  writeFileSync(template, JSON.stringify(bootstrap).replace('"METADATA"', '{{ .meta_json_str }}'));
  return { program, template };
}
