import type { RemoteService } from '../config/proxy-config.ts';
import type { Problem } from '../config/resolve-config.ts';
import { addressBytes } from './address-bytes.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import type { Findings } from './findings.ts';
import { googleProject } from './google-project.ts';
import type { Json } from './json.ts';
import { protoDuration } from './proto-duration.ts';
import { proxyConfigFields } from './proxy-config-fields.ts';
import { socketAddress } from './socket-address.ts';
import { statLabels } from './stat-labels.ts';
import { statsInclusion } from './stats-inclusion.ts';
import { tcpKeepalive } from './tcp-keepalive.ts';
import { typedConfig } from './typed-config.ts';
import { upstreamTls } from './upstream-tls.ts';
import { wellFormed } from './well-formed.ts';

/** What a template knows beside all that a bootstrap is made of. An empty text is one that is not there. */
export interface TemplateInputs extends BootstrapInputs {
  readonly podName: string;
  readonly podNamespace: string;
  readonly podIp: string;
  readonly mixerSan: string;
  /** `PILOT_CERT_PROVIDER`. */
  readonly certProvider: string;
  /** `PROV_CERT`. */
  readonly provisionedCert: string;
  readonly disableInternalTelemetry: boolean;
}

export type TemplateVariables =
  | { readonly ok: true; readonly variables: ReadonlyMap<string, Json>; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Of Stackdriver's old tracer, each. */
const usualLimit = 200;

/**
 * The variables of a bootstrap template, under the names of the Go agents 1.5 and 1.6, each of them; undefined where the Go agent leaves it out. Pure.
 *
 * Parts that are JSON are so in xDS v3. `lightstepToken` is the token itself, since Envoy takes no file for it any more.
 */
export function templateVariables(inputs: TemplateInputs): TemplateVariables {
  const { config, metadata, addresses, ipv6, locality, stsPort } = inputs;
  const { zipkin, lightstep, datadog, stackdriver, tlsSettings } = config.tracing ?? {};
  const findings: Findings = { problems: [], warnings: [] };
  const { prefixes, suffixes, regexes } = statsInclusion(metadata, addresses, findings);
  const json = (value: Json) => value && JSON.stringify(wellFormed(value));
  const some = (text: string | undefined) => (text === '' ? undefined : text);
  const address = (place: string, text: string | undefined): string | undefined => {
    if (text === undefined || text === '') return undefined;
    const found = socketAddress(text);
    if (found === undefined) findings.problems.push({ place, text: `'${text}' is not host:port` });
    return found && `{"address": ${JSON.stringify(found.address)}, "port_value": ${found.port_value}}`;
  };
  const service = (name: string, place: string, to: RemoteService | undefined) => {
    const tls = to?.tlsSettings && upstreamTls({ settings: to.tlsSettings, place: `${place}.tlsSettings`, metadata, http2: true, name }, findings); // prettier-ignore
    return {
      [`${name}_address`]: address(`${place}.address`, to?.address),
      [`${name}_tls`]: json(tls),
      [`${name}_tcp_keepalive`]: json(to?.tcpKeepalive && { tcp_keepalive: tcpKeepalive(to.tcpKeepalive) }),
    };
  };
  const http2 = zipkin === undefined && lightstep !== undefined;
  const tracingTls = tlsSettings && upstreamTls({ settings: tlsSettings, place: 'tracing.tlsSettings', metadata, http2, name: 'tracer' }, findings); // prettier-ignore
  const socket = tracingTls && { name: 'tls', typed_config: typedConfig('extensions.transport_sockets.tls.v3.UpstreamTlsContext', tracingTls) }; // prettier-ignore

  const variables: Readonly<Record<string, Json>> = {
    config: proxyConfigFields(config),
    nodeID: inputs.serviceNode,
    cluster: config.serviceCluster,
    region: some(locality.region),
    zone: some(locality.zone),
    sub_zone: some(locality.subZone),
    meta_json_str: json(metadata),
    pilot_SAN: json(inputs.sans.map(({ value }) => ({ exact: value }))),
    MixerSubjectAltName: some(inputs.mixerSan),
    PodName: some(inputs.podName),
    PodNamespace: some(inputs.podNamespace),
    PodIP: addressBytes(inputs.podIp).toString('base64'),
    ControlPlaneAuth: config.controlPlaneAuthPolicy === 'MUTUAL_TLS' ? 'enable' : undefined,
    DisableReportCalls: inputs.disableInternalTelemetry ? 'true' : undefined,
    outlier_log_path: some(inputs.outlierLogPath),
    pilot_cert_provider: inputs.certProvider,
    provisioned_cert: inputs.provisionedCert,
    sts: stsPort > 0 ? true : undefined,
    sts_port: stsPort > 0 ? stsPort : undefined,
    gcp_project_id: stsPort > 0 ? googleProject(metadata) : undefined,
    localhost: ipv6 ? '::1' : '127.0.0.1',
    wildcard: ipv6 ? '::' : '0.0.0.0',
    dns_lookup_family: ipv6 ? 'AUTO' : 'V4_ONLY',
    discovery_address: config.discoveryAddress,
    pilot_grpc_address: address('discoveryAddress', config.discoveryAddress),
    statsd: address('statsdUdpAddress', config.statsdUdpAddress),
    zipkin: address('tracing.zipkin.address', zipkin?.address),
    lightstep: address('tracing.lightstep.address', lightstep?.address),
    lightstepToken: lightstep?.accessToken,
    lightstepSecure: lightstep?.secure,
    lightstepCacertPath: some(lightstep?.cacertPath),
    datadog: address('tracing.datadog.address', datadog?.address),
    stackdriver: stackdriver === undefined ? undefined : true,
    stackdriverProjectID: stackdriver && googleProject(metadata),
    stackdriverDebug: stackdriver?.debug,
    stackdriverMaxAnnotations: stackdriver && (stackdriver.maxNumberOfAnnotations || usualLimit),
    stackdriverMaxAttributes: stackdriver && (stackdriver.maxNumberOfAttributes || usualLimit),
    stackdriverMaxEvents: stackdriver && (stackdriver.maxNumberOfMessageEvents || usualLimit),
    tracing_tls: json(socket),
    ...service('envoy_metrics_service', 'envoyMetricsService', config.envoyMetricsService),
    ...service('envoy_accesslog_service', 'envoyAccessLogService', config.envoyAccessLogService),
    extraStatTags: statLabels(metadata, config.extraStatTags),
    inclusionPrefix: prefixes,
    inclusionSuffix: suffixes,
    inclusionRegexps: regexes,
    connect_timeout: protoDuration(config.connectTimeout),
    dns_refresh_rate: protoDuration(config.dnsRefreshRate),
    sds_uds_path: undefined,
    sds_token_path: undefined,
  };
  return findings.problems.length > 0
    ? { ok: false, problems: findings.problems }
    : { ok: true, variables: new Map(Object.entries(variables).map(([name, value]) => [name, value === undefined ? undefined : wellFormed(value)])), warnings: findings.warnings }; // prettier-ignore
}
