// Why: docs/decisions/084-small-features-stay.md
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
import { ownMember } from '../../shared/text/own-member.ts';

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

/**
 * Returns all variables of a bootstrap template, under the names of the Go agents 1.5 and 1.6;
 * undefined for those that the Go agent leaves out. Pure.
 *
 * Parts that are JSON are in xDS v3. `lightstepToken` is the token itself, because Envoy no longer
 * reads it from a file.
 */
export function templateVariables(inputs: TemplateInputs): TemplateVariables {
  const { config, metadata, addresses, ipv6, locality, stsPort } = inputs;
  const findings: Findings = { problems: [], warnings: [] };
  const { prefixes, suffixes, regexes } = statsInclusion(metadata, addresses, findings);
  const json = (value: Json) => value && JSON.stringify(wellFormed(value));
  const some = (text: string | undefined) => (text === '' ? undefined : text);
  const address = (place: string, text: string | undefined): string | undefined => {
    if (text === undefined || text === '') return undefined;
    const parsed = socketAddress(text);
    if (parsed === undefined && place === 'discoveryAddress')
      findings.problems.push({ place, text: `'${text}' is not host:port` });
    else if (parsed === undefined)
      findings.warnings.push(`${place}: '${text}' is not host:port: it is left out`);
    return (
      parsed && `{"address": ${JSON.stringify(parsed.address)}, "port_value": ${parsed.port_value}}`
    );
  };
  const service = (name: string, place: string, to: RemoteService | undefined) => {
    const { isSound, tls } = secured(
      to?.tlsSettings,
      { place: `${place}.tlsSettings`, metadata, http2: true, name },
      findings,
    );
    return {
      [`${name}_address`]: isSound ? address(`${place}.address`, to?.address) : undefined,
      [`${name}_tls`]: json(tls),
      [`${name}_tcp_keepalive`]: json(
        to?.tcpKeepalive && { tcp_keepalive: tcpKeepalive(to.tcpKeepalive) },
      ),
    };
  };
  const http2 = config.tracing?.zipkin === undefined && config.tracing?.lightstep !== undefined;
  const traced = secured(
    config.tracing?.tlsSettings,
    { place: 'tracing.tlsSettings', metadata, http2, name: 'tracer' },
    findings,
  );
  const { zipkin, lightstep, datadog, stackdriver } =
    (traced.isSound ? config.tracing : undefined) ?? {};
  const tracingTls = traced.tls;
  const socket = tracingTls && {
    name: 'tls',
    typed_config: typedConfig('extensions.transport_sockets.tls.v3.UpstreamTlsContext', tracingTls),
  };

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

/**
 * Returns the TLS of a service that Envoy reports to. Unsound settings are a warning, and the
 * service is left out: Envoy does not speak plaintext to it instead.
 */
function secured(
  settings: TlsSettings | undefined,
  rest: Omit<BootstrapTls, 'settings'>,
  findings: Findings,
): { readonly isSound: boolean; readonly tls?: ReturnType<typeof upstreamTls> } {
  if (settings === undefined) return { isSound: true };
  const sound = sparing(findings, 'what it belongs to is left out', (tlsFindings) => ({
    tls: upstreamTls({ settings, ...rest }, tlsFindings),
  }));
  return { isSound: sound !== undefined, ...sound };
}

export type RenderedTemplate =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

const name = String.raw`\.[\p{L}_][\p{L}\p{N}_.]*`;
const supportedAction = new RegExp(
  String.raw`^(?:(?<call>toJSON)\s+)?(?<path>${name})(?:\s*\|\s*(?<pipe>toJSON))?$`,
  'u',
);

/** A comment may contain `}}`. */
const commentBegins = /(?:-\s+)?\/\*/y;
/** In characters. No bootstrap is as large. */
const longest = 4 << 20;

/**
 * Renders a bootstrap template of Istio: `{{ .name }}`, `{{ .config.ProxyAdminPort }}`,
 * `{{ toJSON .name }}`, `{{ .name | toJSON }}`, comments and trim markers. Refuses any other action
 * of Go's templates, and an unknown variable; the reason names the line. Pure.
 *
 * A variable without a value becomes an empty text. Values are inserted as they are, without quotes
 * or escapes, as in the Go agent.
 */
export function renderTemplate(
  template: string,
  variables: ReadonlyMap<string, Json>,
): RenderedTemplate {
  let text = '';
  let end = 0;
  let trims = false;
  const literal = (piece: string, next: 'trims' | 'keeps') => {
    const begun = trims ? piece.trimStart() : piece;
    text += next === 'trims' ? begun.trimEnd() : begun;
  };
  for (let begin = template.indexOf('{{'); begin >= 0; begin = template.indexOf('{{', end)) {
    const { left, code, right, after } = actionAt(template, begin);
    literal(template.slice(end, begin), left ? 'trims' : 'keeps');
    trims = right;
    end = after;
    if (code?.startsWith('/*') === true && code.indexOf('*/', 2) === code.length - 2) continue;
    const value = code === undefined ? { flaw: '{{ is not closed' } : evaluate(code, variables);
    if (value.flaw !== undefined)
      return {
        ok: false,
        reason: `line ${template.slice(0, begin).split('\n').length}: ${value.flaw}`,
      };
    text += value.text;
    if (text.length > longest)
      return {
        ok: false,
        reason: `it makes a text of more than ${longest} characters, which is the limit`,
      };
  }
  literal(template.slice(end), 'keeps');
  return { ok: true, text };
}

/**
 * Returns the action whose `{{` is at `begin`, with its trim markers; without code if it is not
 * closed.
 */
function actionAt(template: string, begin: number) {
  const start = begin + 2;
  commentBegins.lastIndex = start;
  const inside = commentBegins.test(template)
    ? template.indexOf('*/', commentBegins.lastIndex)
    : start;
  const close = inside < 0 ? -1 : template.indexOf('}}', inside);
  const whole = close < 0 ? '' : template.slice(start, close);
  const [left, right] = [/^-\s/.test(whole), /\s-$/.test(whole)];
  return {
    left,
    right,
    after: close + 2,
    code: close < 0 ? undefined : whole.slice(left ? 1 : 0, right ? -1 : undefined).trim(),
  };
}

type Evaluated = { readonly text: string; readonly flaw?: undefined } | { readonly flaw: string };

function evaluate(code: string, variables: ReadonlyMap<string, Json>): Evaluated {
  const { path, call, pipe } = supportedAction.exec(code)?.groups ?? {};
  if (path === undefined || (call !== undefined && pipe !== undefined)) {
    const word = /\|\s*(?!toJSON\b)([^\s|]+)/.exec(code)?.[1] ?? code.split(/\s/, 1)[0] ?? '';
    return { flaw: `{{ ${word} }} is not supported: only variables and toJSON are` };
  }
  const [first = '', ...members] = path.slice(1).split('.');
  let value = variables.get(first);
  let isKnown = variables.has(first);
  for (const member of members.map((text) => text.charAt(0).toLowerCase() + text.slice(1))) {
    if (value === undefined) break; // members of a missing value cannot be checked
    isKnown = typeof value === 'object' && value !== null && Object.hasOwn(value, member);
    value = isKnown ? ownMember(value as Readonly<Record<string, Json>>, member) : undefined;
    if (!isKnown) break;
  }
  if (!isKnown) return { flaw: `the variable ${path} is not known` };
  if (call !== undefined || pipe !== undefined) return { text: JSON.stringify(value ?? {}) };
  if (!Array.isArray(value))
    return typeof value === 'object' && value !== null
      ? { flaw: `the variable ${path} has members: toJSON writes it` }
      : { text: String(value ?? '') };
  return { text: `[${value.join(' ')}]` };
}
