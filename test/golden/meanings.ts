import { certificates } from './cases.ts';
import type { Summary } from './summary.ts';

const files = `trusts ${certificates}/root-cert.pem`;
const shown = `shows ${certificates}/cert-chain.pem`;
const pilot =
  'for istio-pilot or spiffe://cluster.local/ns/istio-system/sa/istio-pilot-service-account';
const secrets = `trusts file-root:${certificates}/root-cert.pem ${pilot} shows default`;
const reports = 'reports.example.com 15000';
const mutual = `TLS to reports.example.com ${files} for reports.example.com or spiffe://cluster.local/ns/reports/sa/default ${shown}`;

const byDefault: Summary = {
  node: 'sidecar~1.2.3.4~foo~bar',
  admin: '127.0.0.1 15000',
  listeners: { stats: '0.0.0.0 15090', agent: '0.0.0.0 15021' },
  clusters: {
    prometheus_stats: '127.0.0.1 15000',
    agent: '127.0.0.1 15020',
    'xds-grpc': 'istio-pilot 15010',
  },
  ads: 'xds-grpc',
  overload: '2147483647',
};

/** Returns the summary of the case `default` with more clusters, or with others in their place. */
function withClusters(clusters: Summary['clusters'], more: Partial<Summary> = {}): Summary {
  return { ...byDefault, ...more, clusters: { ...byDefault.clusters, ...clusters } };
}

/**
 * Returns the summary of the Go agent's cases `running` and `runningsds`: another admin port,
 * Zipkin and statsd.
 */
function running(clusters: Summary['clusters']): Summary {
  return withClusters(
    { prometheus_stats: '127.0.0.1 15005', zipkin: 'localhost 6000', ...clusters },
    {
      admin: '127.0.0.1 15005',
      tracing: 'envoy.tracers.zipkin → zipkin',
      sinks: ['envoy.stat_sinks.statsd → 10.1.1.1 9125'],
    },
  );
}

/** The summary of each golden case, written by hand. */
export const meanings: Readonly<Record<string, Summary>> = {
  default: byDefault,
  auth: withClusters({
    'xds-grpc': `istio-pilot 15011 TLS to istio-pilot ${files} ${pilot} ${shown}`,
  }),
  authsds: withClusters({
    'sds-grpc': '/etc/istio/proxy/SDS',
    'xds-grpc': `istio-pilot 15011 TLS to istio-pilot ${secrets}`,
  }),
  running: running({ 'xds-grpc': `mypilot 1001 TLS to mypilot ${files} ${pilot} ${shown}` }),
  runningsds: running({
    'sds-grpc': '/etc/istio/proxy/SDS',
    'xds-grpc': `mypilot 1001 TLS to mypilot ${secrets}`,
  }),
  'tracing-lightstep': withClusters(
    { lightstep: `lightstep-satellite 8080 TLS to lightstep-satellite ${files}` },
    { tracing: 'envoy.tracers.opentelemetry → lightstep' },
  ),
  'tracing-zipkin': withClusters(
    { zipkin: 'localhost 6000' },
    { tracing: 'envoy.tracers.zipkin → zipkin' },
  ),
  'tracing-datadog': withClusters(
    { datadog_agent: 'localhost 8126' },
    { tracing: 'envoy.tracers.datadog → datadog_agent' },
  ),
  'tracing-stackdriver': withClusters(
    {},
    { tracing: 'envoy.tracers.opentelemetry → telemetry.googleapis.com:443' },
  ),
  'stats-inclusion': withClusters(
    {},
    { included: ['http.10.3.3.3_', 'http.10.4.4.4_', 'http.10.5.5.5_', 'http.10.6.6.6_'] },
  ),
  'tracing-tls': withClusters(
    { zipkin: `localhost 6000 TLS ${files}` },
    { tracing: 'envoy.tracers.zipkin → zipkin' },
  ),
  'metrics-service': withClusters(
    { envoy_metrics_service: `${reports} ${mutual}` },
    { sinks: ['envoy.stat_sinks.metrics_service → envoy_metrics_service'] },
  ),
  'access-log-service': withClusters({
    envoy_accesslog_service: `${reports} TLS to reports.example.com ${files}`,
  }),
  'istio-mutual': withClusters(
    {
      envoy_metrics_service: `${reports} TLS to envoy_metrics_service ${files} ${shown}`,
      envoy_accesslog_service: `${reports} TLS to envoy_accesslog_service ${files} ${shown}`,
    },
    { sinks: ['envoy.stat_sinks.metrics_service → envoy_metrics_service'] },
  ),
  // (1 GiB − 110 MiB) / 2
  limited: { ...byDefault, overload: '10000 479199232 shrink_heap 0.8 disable_http_keepalive 0.9' },
  delta: { ...byDefault, ads: 'xds-grpc DELTA_GRPC' },
  ipv6: {
    node: 'sidecar~2001:db8::1~foo~bar',
    admin: '::1 15000',
    listeners: { stats: ':: 15090', agent: ':: 15021' },
    clusters: {
      prometheus_stats: '::1 15000',
      agent: '::1 15020',
      'xds-grpc': '2001:db8::100 15010',
      envoy_metrics_service: reports,
    },
    ads: 'xds-grpc',
    overload: '2147483647',
    sinks: [
      'envoy.stat_sinks.metrics_service → envoy_metrics_service',
      'envoy.stat_sinks.statsd → 2001:db8::5 9125',
    ],
    included: ['http.2001_db8__1_', 'http.2001_db8__2_'],
  },
  // Without a status port no listener or cluster leads to it.
  router: {
    ...byDefault,
    node: 'router~1.2.3.4~foo~bar',
    listeners: { stats: '0.0.0.0 15090' },
    clusters: { prometheus_stats: '127.0.0.1 15000', 'xds-grpc': 'istio-pilot 15010' },
  },
  'open-telemetry': withClusters(
    { opentelemetry_collector: 'collector.example.com 4317' },
    { tracing: 'envoy.tracers.opentelemetry → opentelemetry_collector' },
  ),
  'stackdriver-sts': withClusters(
    {},
    { tracing: 'envoy.tracers.opentelemetry → telemetry.googleapis.com:443' },
  ),
  // The agent pushes no secrets here: those of the control plane are files.
  all: withClusters(
    {
      prometheus_stats: '127.0.0.1 15005',
      'sds-grpc': '/etc/istio/proxy/SDS',
      'xds-grpc': `mypilot 1001 TLS to mypilot ${files} ${pilot} ${shown}`,
      opentelemetry_collector: `10.2.2.2 4317 TLS ${files} for 10.2.2.2 ${shown}`,
      envoy_metrics_service: `${reports} ${mutual}`,
      envoy_accesslog_service: `${reports} ${mutual}`,
    },
    {
      admin: '127.0.0.1 15005',
      tracing: 'envoy.tracers.opentelemetry → opentelemetry_collector',
      sinks: [
        'envoy.stat_sinks.metrics_service → envoy_metrics_service',
        'envoy.stat_sinks.statsd → 10.1.1.1 9125',
      ],
    },
  ),
};
