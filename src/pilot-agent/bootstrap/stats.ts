import { quoteRegex } from '../../shared/text/quote-regex.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { isIpAddress } from '../../shared/text/host-port.ts';
import { socketAddress } from './clusters.ts';
import { type Findings, type Json, typedConfig } from './proto-json.ts';
import { regexFlaw } from '../../shared/text/regex-flaw.ts';
import type { NodeMetadata } from './bootstrap-inputs.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** The labels of Istio's standard metrics. */
const ofIstio = `
  reporter source_namespace source_workload source_workload_namespace source_principal source_app source_version source_cluster
  destination_namespace destination_workload destination_workload_namespace destination_principal destination_app destination_version
  destination_service destination_service_name destination_service_namespace destination_port destination_cluster
  request_protocol request_operation request_host response_flags grpc_response_status connection_security_policy
  permissive_response_code permissive_response_policyid
  source_canonical_service destination_canonical_service source_canonical_revision destination_canonical_revision`
  .trim()
  .split(/\s+/);

/**
 * Returns the labels that Envoy's extensions put into the names of statistics: Istio's own, then
 * those of the configuration and of the annotation. Pure.
 */
export function statLabels(metadata: NodeMetadata, extra: readonly string[]): readonly string[] {
  const annotation = metadata['sidecar.istio.io/extraStatTags'];
  const annotated =
    typeof annotation === 'string' ? annotation.split(',').map((label) => label.trim()) : [];
  return [...new Set([...ofIstio, ...extra, ...annotated])].filter((label) => label !== '');
}

const address = String.raw`(?:[_.[:digit:]]*|[_\[\]aAbBcCdDeEfF[:digit:]]*)`;
/** The tags that Envoy itself has in the names of its statistics. */
const ofEnvoy: readonly (readonly [string, string])[] = [
  ['cluster_name', String.raw`^cluster\.((.+?(\..+?\.svc\.cluster\.local)?)\.)`],
  ['tcp_prefix', String.raw`^tcp\.((.*?)\.)\w+?$`],
  ['response_code', String.raw`(response_code=\.=(.+?);\.;)|_rq(_(\d{3}))$`],
  ['response_code_class', String.raw`_rq(_(\dxx))$`],
  ['http_conn_manager_listener_prefix', String.raw`^listener(?=\.).*?\.http\.((${address})\.)`],
  ['http_conn_manager_prefix', String.raw`^http\.((${address})\.)`],
  ['listener_address', String.raw`^listener\.((${address})\.)`],
  ['mongo_prefix', String.raw`^mongo\.(.+?)\.(collection|cmd|cx_|op_|delays_|decoding_)(.*?)$`],
];
/** The tags that Istio's extensions of Envoy add to names. */
const ofExtensions: readonly (readonly [string, string])[] = [
  ['cache', String.raw`(cache\.(.+?)\.)`],
  ['component', String.raw`(component\.(.+?)\.)`],
  ['tag', String.raw`(tag\.(.+?);\.)`],
  ['wasm_filter', String.raw`(wasm_filter\.(.+?)\.)`],
];
/** In bytes: the longest that Envoy accepts. */
const longestRegex = 1024;

/**
 * Returns how Envoy extracts `labels`, and its own tags, from the names of its statistics: the list
 * of the Go agent 1.6, whose `response_code` matched no digit.
 *
 * All characters of a label are literal. A label that is too long for Envoy is left out with a
 * warning. Pure.
 */
export function statsTags(
  labels: readonly string[],
  { warnings }: Pick<Findings, 'warnings'>,
): readonly Readonly<Record<'tag_name' | 'regex', string>>[] {
  const ofLabels = labels.flatMap((label) => {
    const regex = String.raw`(${quoteRegex(label)}=\.=(.*?);\.;)`;
    if (Buffer.byteLength(regex) <= longestRegex) return [[label, regex] as const];
    warnings.push(`extraStatTags: '${label.slice(0, 40)}…' is left out: it is too long for Envoy`);
    return [];
  });
  return [...ofEnvoy, ...ofLabels, ...ofExtensions].map(([tag_name, regex]) => ({
    tag_name,
    regex,
  }));
}

/** Patterns for the names of statistics, by kind. */
export interface StatsInclusion {
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  readonly regexes: readonly string[];
}

/**
 * Statistics of readiness, xDS and Istio's own filters (the list of the Go agent 1.6), and of
 * overload.
 */
const neededPrefixes = [
  'cluster_manager',
  'listener_manager',
  'http_mixer_filter',
  'tcp_mixer_filter',
  'server',
  'overload.',
  'cluster.xds-grpc',
  'wasm',
];
/** Gauges of requests and connections in flight, which show when the last drain may end. */
const neededSuffixes = [
  'downstream_rq_active',
  'downstream_cx_active',
  'downstream_cx_upgrades_active',
];
/**
 * These counters show which listeners speak HTTP, because a drain does not count idle HTTP
 * connections. `status` and `top` show the requests and the failed requests in them.
 */
const neededRegexes = [String.raw`listener\..+\.http\..+\.downstream_rq_(completed|5xx)`];

const annotation = 'sidecar.istio.io/statsInclusion';

/**
 * Returns which statistics Envoy keeps beside those with labels: the ones that the agent needs, and
 * those that annotations ask for. Pure.
 *
 * `{pod_ip}` stands for each address of the node, written as in Envoy's names. An expression that
 * RE2 would refuse is left out with a warning.
 */
export function statsInclusion(
  metadata: NodeMetadata,
  addresses: readonly string[],
  { warnings }: Pick<Findings, 'warnings'>,
): StatsInclusion {
  const annotated = (
    kind: string,
    quote: (address: string) => string = (address) => address,
  ): readonly string[] => {
    const text = ownMember(metadata, `${annotation}${kind}`);
    const entries = typeof text === 'string' ? text.split(',').map((entry) => entry.trim()) : [];
    return entries
      .filter((entry) => entry !== '')
      .flatMap((entry) =>
        entry.includes('{pod_ip}')
          ? [...new Set(addresses)].map((address) =>
              entry.replaceAll('{pod_ip}', () => quote(address.replaceAll(':', '_'))),
            )
          : [entry],
      );
  };
  const regexes = annotated('Regexps', (address) => address.replaceAll('.', '\\.')).filter(
    (regex) => {
      const flaw = regexFlaw(regex);
      if (flaw !== undefined)
        warnings.push(`${annotation}Regexps: '${regex.slice(0, 80)}' is left out: ${flaw}`);
      return flaw === undefined;
    },
  );
  return {
    prefixes: [...new Set([...annotated('Prefixes'), ...neededPrefixes])],
    suffixes: [...new Set([...annotated('Suffixes'), ...neededSuffixes])],
    regexes: [...new Set([...regexes, ...neededRegexes])],
  };
}

/**
 * Makes Envoy's `stats_config`: which statistics it keeps, and how it extracts labels from their
 * names. Pure.
 */
export function statsConfig(
  tags: ReturnType<typeof statsTags>,
  { prefixes, suffixes, regexes }: StatsInclusion,
): Json {
  return {
    use_all_default_tags: false,
    stats_tags: tags,
    stats_matcher: {
      inclusion_list: {
        patterns: [
          { prefix: 'reporter=' },
          ...prefixes.map((prefix) => ({ prefix })),
          ...suffixes.map((suffix) => ({ suffix })),
          ...regexes.map((regex) => ({ safe_regex: { regex } })),
          { prefix: 'component' },
        ],
      },
    },
  };
}

/**
 * Returns the sinks of Envoy's statistics: the metrics service, then statsd. For statsd Envoy
 * accepts only an IP address, no host name. Pure.
 */
export function statsSinks(
  {
    envoyMetricsService,
    statsdUdpAddress,
  }: Pick<ProxyConfig, 'envoyMetricsService' | 'statsdUdpAddress'>,
  { warnings }: Pick<Findings, 'warnings'>,
): readonly Json[] {
  const metrics = typedConfig('config.metrics.v3.MetricsServiceConfig', {
    transport_api_version: 'V3',
    grpc_service: { envoy_grpc: { cluster_name: 'envoy_metrics_service' } },
  });
  const address = socketAddress(statsdUdpAddress);
  const isValid = address !== undefined && isIpAddress(address.address);
  if (statsdUdpAddress !== '' && !isValid)
    warnings.push(`statsdUdpAddress: '${statsdUdpAddress}' is not ip:port: nothing is sent to it`);
  return [
    ...(envoyMetricsService === undefined
      ? []
      : [{ name: 'envoy.stat_sinks.metrics_service', typed_config: metrics }]),
    ...(isValid
      ? [
          {
            name: 'envoy.stat_sinks.statsd',
            typed_config: typedConfig('config.metrics.v3.StatsdSink', {
              address: { socket_address: { ...address } },
            }),
          },
        ]
      : []),
  ];
}
