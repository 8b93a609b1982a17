import type { BootstrapInputs } from './bootstrap-inputs.ts';
import { localCluster, reportCluster, xdsCluster } from './clusters.ts';
import { discoversItself, ownCluster } from './own-cluster.ts';
import { type Findings, type Json, typedConfig } from './proto-json.ts';
import { sdsCluster } from './secret-clusters.ts';
import type { Problem } from '../../shared/text/value.ts';

/** Returns a problem for each port that Envoy or the agent would open twice. Pure. */
export function portClashes({
  config,
  prometheusPort,
  healthPort,
}: BootstrapInputs): readonly Problem[] {
  const ports = [
    ['proxyAdminPort', config.proxyAdminPort],
    ['statusPort', config.statusPort],
    ['ENVOY_PROMETHEUS_PORT', prometheusPort],
    ['ENVOY_STATUS_PORT', config.statusPort > 0 ? healthPort : 0],
  ] as const;
  return ports.flatMap(([place, port], index) => {
    const [other] =
      ports.slice(0, index).find(([, otherPort]) => port > 0 && otherPort === port) ?? [];
    return other === undefined
      ? []
      : [{ place, text: `${port} is the port of ${other} already: give one of them another` }];
  });
}

interface ForwardingListener {
  /**
   * The name of the listener, and the prefix of its statistics: `stats` or `agent`.
   *
   * A drain does not count requests in flight on these two (`src/proxy/admin-questions.ts`).
   */
  readonly name: 'stats' | 'agent';
  readonly address: string;
  readonly port: number;
  readonly path: string;
  readonly cluster: string;
}

/** Returns a listener that forwards paths with one prefix to a cluster, and nothing else. Pure. */
function forwardingListener({ name, address, port, path, cluster }: ForwardingListener): Json {
  const manager = typedConfig(
    'extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    {
      codec_type: 'AUTO',
      stat_prefix: name,
      route_config: {
        virtual_hosts: [
          {
            name: 'backend',
            domains: ['*'],
            routes: [{ match: { prefix: path }, route: { cluster } }],
          },
        ],
      },
      http_filters: [
        {
          name: 'envoy.filters.http.router',
          typed_config: typedConfig('extensions.filters.http.router.v3.Router'),
        },
      ],
    },
  );
  return {
    name,
    stat_prefix: name,
    address: { socket_address: { address, port_value: port } },
    ignore_global_conn_limit: true, // otherwise probes fail while Envoy is at the limit
    filter_chains: [
      {
        filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
      },
    ],
  };
}

/**
 * Returns the clusters and listeners that Envoy has from the start: statistics for Prometheus,
 * readiness through the status port, the control plane, and the services that Envoy reports to.
 * Pure.
 */
export function staticResources(inputs: BootstrapInputs, tracer: Json, findings: Findings): Json {
  const { config, ipv6, sds, prometheusPort, healthPort } = inputs;
  const { envoyMetricsService: metrics, envoyAccessLogService: accessLog, statusPort } = config;
  const localhost = ipv6 ? '::1' : '127.0.0.1';
  const address = ipv6 ? '::' : '0.0.0.0';
  const probed = statusPort > 0;
  const clusters = [
    localCluster('prometheus_stats', localhost, config.proxyAdminPort),
    ...(probed ? [localCluster('agent', localhost, statusPort)] : []),
    ...(sds === undefined ? [] : [sdsCluster(sds.socket)]),
    xdsCluster(inputs, findings),
    ...(discoversItself(inputs.metadata) ? [ownCluster] : []),
    ...(tracer === undefined ? [] : [tracer]),
    ...(metrics === undefined
      ? []
      : [reportCluster('envoy_metrics_service', 'envoyMetricsService', metrics, inputs, findings)]),
    ...(accessLog === undefined
      ? []
      : [
          reportCluster(
            'envoy_accesslog_service',
            'envoyAccessLogService',
            accessLog,
            inputs,
            findings,
          ),
        ]),
  ];
  const listeners = [
    ...(prometheusPort > 0
      ? [
          forwardingListener({
            name: 'stats',
            address,
            port: prometheusPort,
            path: '/stats/prometheus',
            cluster: 'prometheus_stats',
          }),
        ]
      : []),
    ...(probed && healthPort > 0
      ? [
          forwardingListener({
            name: 'agent',
            address,
            port: healthPort,
            path: '/healthz/ready',
            cluster: 'agent',
          }),
        ]
      : []),
  ];
  return { listeners, clusters };
}
