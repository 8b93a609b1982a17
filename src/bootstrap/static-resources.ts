import { sdsCluster } from './sds-cluster.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import type { Findings } from './findings.ts';
import { forwardingListener } from './forwarding-listener.ts';
import type { Json } from './json.ts';
import { localCluster } from './local-cluster.ts';
import { reportCluster } from './report-cluster.ts';
import { xdsCluster } from './xds-cluster.ts';

/**
 * The clusters and the listeners that Envoy has from the start: statistics for Prometheus, readiness by way of the status port, the control
 * plane, and the services that Envoy reports to. Pure.
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
    ...(tracer === undefined ? [] : [tracer]),
    ...(metrics === undefined ? [] : [reportCluster('envoy_metrics_service', 'envoyMetricsService', metrics, inputs, findings)]),
    ...(accessLog === undefined ? [] : [reportCluster('envoy_accesslog_service', 'envoyAccessLogService', accessLog, inputs, findings)]),
  ];
  const listeners = [
    ...(prometheusPort > 0
      ? [forwardingListener({ name: 'stats', address, port: prometheusPort, path: '/stats/prometheus', cluster: 'prometheus_stats' })]
      : []),
    ...(probed && healthPort > 0
      ? [forwardingListener({ name: 'agent', address, port: healthPort, path: '/healthz/ready', cluster: 'agent' })]
      : []),
  ];
  return { listeners, clusters };
}
