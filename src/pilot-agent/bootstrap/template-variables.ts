import { isIP } from 'node:net';
import type { RemoteService, TlsSettings } from '../config/proxy-config.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import { socketAddress, tcpKeepalive } from './clusters.ts';
import {
  type Findings,
  type Json,
  protoDuration,
  sparing,
  typedConfig,
  wellFormed,
} from './proto-json.ts';
import { proxyConfigFields } from './proxy-config-json.ts';
import { statLabels, statsInclusion } from './stats.ts';
import { googleProject } from './tracing.ts';
import { type BootstrapTls, upstreamTls } from './upstream-tls.ts';
import type { Problem } from '../../shared/text/value.ts';

/**
 * The inputs of a template: those of a bootstrap, and some more. A text is empty if it is not set.
 */
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
  | {
      readonly ok: true;
      readonly variables: ReadonlyMap<string, Json>;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The default of each limit of Stackdriver's old tracer. */
const usualLimit = 200;

type Variables = Readonly<Record<string, Json>>;

/**
 * Returns all variables of a bootstrap template, under the names of the Go agents 1.5 and 1.6;
 * undefined for those that the Go agent leaves out. Pure.
 *
 * Parts that are JSON are in xDS v3. `lightstepToken` is the token itself, because Envoy no longer
 * reads it from a file.
 */
export function templateVariables(inputs: TemplateInputs): TemplateVariables {
  const findings: Findings = { problems: [], warnings: [] };
  const { config } = inputs;
  const stats = statsVariables(inputs, findings);
  const tracer = tracerOf(inputs, findings);
  const addressOf = (place: string, text: string | undefined) => addressText(place, text, findings);
  const variables: Variables = {
    ...nodeVariables(inputs),
    ...controlPlaneVariables(inputs),
    pilot_grpc_address: addressOf('discoveryAddress', config.discoveryAddress),
    statsd: addressOf('statsdUdpAddress', config.statsdUdpAddress),
    ...tracerVariables(tracer, inputs.metadata, addressOf),
    ...serviceVariables(
      { name: 'envoy_metrics_service', place: 'envoyMetricsService' },
      inputs,
      findings,
    ),
    ...serviceVariables(
      { name: 'envoy_accesslog_service', place: 'envoyAccessLogService' },
      inputs,
      findings,
    ),
    ...stats,
    connect_timeout: protoDuration(config.connectTimeout),
    dns_refresh_rate: protoDuration(config.dnsRefreshRate),
    sds_uds_path: undefined,
    sds_token_path: undefined,
  };
  return findings.problems.length > 0
    ? { ok: false, problems: findings.problems }
    : {
        ok: true,
        variables: new Map(
          Object.entries(variables).map(([name, value]) => [
            name,
            value === undefined ? undefined : wellFormed(value),
          ]),
        ),
        warnings: findings.warnings,
      };
}

const json = (value: Json) => value && JSON.stringify(wellFormed(value));
const some = (text: string | undefined) => (text === '' ? undefined : text);

/** Returns an address in xDS. A wrong one is left out; only the control plane's is a problem. */
function addressText(
  place: string,
  text: string | undefined,
  findings: Findings,
): string | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = socketAddress(text);
  if (parsed === undefined && place === 'discoveryAddress')
    findings.problems.push({ place, text: `'${text}' is not host:port` });
  else if (parsed === undefined)
    findings.warnings.push(`${place}: '${text}' is not host:port: it is left out`);
  return (
    parsed && `{"address": ${JSON.stringify(parsed.address)}, "port_value": ${parsed.port_value}}`
  );
}

/** The variables about the proxy, its pod and its place. */
function nodeVariables(inputs: TemplateInputs): Variables {
  const { config, metadata, ipv6, locality, stsPort } = inputs;
  return {
    config: proxyConfigFields(config),
    nodeID: inputs.serviceNode,
    cluster: config.serviceCluster,
    region: some(locality.region),
    zone: some(locality.zone),
    sub_zone: some(locality.subZone),
    meta_json_str: json(metadata),
    PodName: some(inputs.podName),
    PodNamespace: some(inputs.podNamespace),
    PodIP: addressBytes(inputs.podIp).toString('base64'),
    outlier_log_path: some(inputs.outlierLogPath),
    sts: stsPort > 0 ? true : undefined,
    sts_port: stsPort > 0 ? stsPort : undefined,
    gcp_project_id: stsPort > 0 ? googleProject(metadata) : undefined,
    localhost: ipv6 ? '::1' : '127.0.0.1',
    wildcard: ipv6 ? '::' : '0.0.0.0',
    dns_lookup_family: ipv6 ? 'AUTO' : 'V4_ONLY',
  };
}

function controlPlaneVariables(inputs: TemplateInputs): Variables {
  const { config } = inputs;
  return {
    pilot_SAN: json(inputs.sans.map(({ value }) => ({ exact: value }))),
    MixerSubjectAltName: some(inputs.mixerSan),
    ControlPlaneAuth: config.controlPlaneAuthPolicy === 'MUTUAL_TLS' ? 'enable' : undefined,
    DisableReportCalls: inputs.disableInternalTelemetry ? 'true' : undefined,
    pilot_cert_provider: inputs.certProvider,
    provisioned_cert: inputs.provisionedCert,
    discovery_address: config.discoveryAddress,
  };
}

/** The configured tracer and its TLS. There is no tracer if its TLS is unsound. */
interface ConfiguredTracer {
  readonly tracing: TemplateInputs['config']['tracing'];
  readonly tls: Secured['tls'];
}

function tracerOf({ config, metadata }: TemplateInputs, findings: Findings): ConfiguredTracer {
  const { tracing } = config;
  const http2 = tracing?.zipkin === undefined && tracing?.lightstep !== undefined;
  const { isSound, tls } = secured(
    tracing?.tlsSettings,
    { place: 'tracing.tlsSettings', metadata, http2, name: 'tracer' },
    findings,
  );
  return { tracing: isSound ? tracing : undefined, tls };
}

function tracerVariables(
  { tracing, tls }: ConfiguredTracer,
  metadata: TemplateInputs['metadata'],
  addressOf: (place: string, text: string | undefined) => string | undefined,
): Variables {
  const { zipkin, lightstep, datadog, stackdriver } = tracing ?? {};
  const socket = tls && {
    name: 'tls',
    typed_config: typedConfig('extensions.transport_sockets.tls.v3.UpstreamTlsContext', tls),
  };
  return {
    zipkin: addressOf('tracing.zipkin.address', zipkin?.address),
    lightstep: addressOf('tracing.lightstep.address', lightstep?.address),
    lightstepToken: lightstep?.accessToken,
    lightstepSecure: lightstep?.secure,
    lightstepCacertPath: some(lightstep?.cacertPath),
    datadog: addressOf('tracing.datadog.address', datadog?.address),
    stackdriver: stackdriver === undefined ? undefined : true,
    stackdriverProjectID: stackdriver && googleProject(metadata),
    stackdriverDebug: stackdriver?.debug,
    stackdriverMaxAnnotations: stackdriver && (stackdriver.maxNumberOfAnnotations || usualLimit),
    stackdriverMaxAttributes: stackdriver && (stackdriver.maxNumberOfAttributes || usualLimit),
    stackdriverMaxEvents: stackdriver && (stackdriver.maxNumberOfMessageEvents || usualLimit),
    tracing_tls: json(socket),
  };
}

/** The variables about a service that Envoy reports to, which begin with its `name`. */
function serviceVariables(
  {
    name,
    place,
  }: {
    readonly name: string;
    readonly place: 'envoyMetricsService' | 'envoyAccessLogService';
  },
  { config, metadata }: TemplateInputs,
  findings: Findings,
): Variables {
  const to: RemoteService | undefined = config[place];
  const { isSound, tls } = secured(
    to?.tlsSettings,
    { place: `${place}.tlsSettings`, metadata, http2: true, name },
    findings,
  );
  return {
    [`${name}_address`]: isSound
      ? addressText(`${place}.address`, to?.address, findings)
      : undefined,
    [`${name}_tls`]: json(tls),
    [`${name}_tcp_keepalive`]: json(
      to?.tcpKeepalive && { tcp_keepalive: tcpKeepalive(to.tcpKeepalive) },
    ),
  };
}

function statsVariables(
  { config, metadata, addresses }: TemplateInputs,
  findings: Findings,
): Variables {
  const { prefixes, suffixes, regexes } = statsInclusion(metadata, addresses, findings);
  return {
    extraStatTags: statLabels(metadata, config.extraStatTags),
    inclusionPrefix: prefixes,
    inclusionSuffix: suffixes,
    inclusionRegexps: regexes,
  };
}

interface Secured {
  readonly isSound: boolean;
  readonly tls?: ReturnType<typeof upstreamTls>;
}

/**
 * Returns the TLS of a service that Envoy reports to. If the settings are unsound, there is a
 * warning, and the service is left out. Envoy never reports to it in plaintext instead.
 */
function secured(
  settings: TlsSettings | undefined,
  rest: Omit<BootstrapTls, 'settings'>,
  findings: Findings,
): Secured {
  if (settings === undefined) return { isSound: true };
  const sound = sparing(findings, 'the service with these settings is left out', (tlsFindings) => ({
    tls: upstreamTls({ settings, ...rest }, tlsFindings),
  }));
  return { isSound: sound !== undefined, ...sound };
}

/**
 * Returns an IP address as the 16 bytes of IPv6, with an IPv4 address mapped into it; empty for any
 * other text. Pure.
 */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 0) return Buffer.alloc(0);
  // The URL parser writes all forms of an address alike: as groups of hexadecimal digits.
  const { hostname } = new URL(
    `http://[${isIP(address) === 4 ? `::ffff:${address}` : (address.split('%', 1)[0] ?? '')}]`,
  );
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  return Buffer.from(
    [...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  );
}
