import type { AgentConfig, AgentFlags } from '../../config/agent-config.ts';
import type { HttpProbe } from '../../config/app-probes.ts';
import { looksSecret } from '../../config/looks-secret.ts';
import { isSecretName } from '../../config/passed-on.ts';
import type { TlsFiles } from '../../config/certificate-files.ts';
import { tlsVariables, variables } from '../../config/environment.ts';
import type { Flag } from '../../../shared/text/flag.ts';
import { flags } from '../../config/flags.ts';
import { metricsVariables } from '../../config/metrics-targets.ts';
import type { ProxyConfig } from '../../config/proxy-config.ts';
import { secretVariables, type SecretsConfig, tokenFiles } from '../../config/secrets-config.ts';
import type { Sources } from '../../config/sources.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

/**
 * Each value by the name under which the user sets it: a flag, a field of ProxyConfig, a variable.
 * All values are JSON.
 */
export type PresentedConfig = Readonly<
  Record<string, { readonly value: unknown; readonly source: string }>
>;

interface ConfigParts {
  readonly config: AgentConfig;
  readonly sources: Sources;
}

type Row = readonly [name: string, value: unknown, source: string];
/** A field that is set by one flag, one field of ProxyConfig or one variable. */
type Plain = 'role' | keyof ProxyConfig | keyof AgentFlags | keyof typeof variables;
/** The rows of a field that no user sets: it follows from values that are shown. */
const derived = () => [];

/** The rows of all other fields. The code does not compile if a new field is missing here. */
const parts: Readonly<
  Record<
    Exclude<keyof AgentConfig, Plain> | 'id' | 'ip' | 'domain' | 'further',
    (resolved: ConfigParts) => readonly Row[]
  >
> = {
  id: ({ config, sources }) => [
    ['id', config.node.id, among(sources.node, '--id', '$POD_NAME', '$POD_NAMESPACE')],
  ],
  ip: ({ config, sources }) => [
    ['ip', config.node.ip, among(sources.node, '--ip', '$INSTANCE_IP')],
  ],
  domain: ({ config, sources }) => [
    ['domain', config.node.domain, among(sources.node, '--domain', '$POD_NAMESPACE')],
  ],
  node: derived,
  further: ({ config, sources }) =>
    Object.entries(config.further).map(([name, value]) => [
      name,
      shown(name, value, 'any-name'),
      sources.further,
    ]),
  own: ({ config: { own: tlsFiles }, sources }) =>
    (['server', 'client'] as const).flatMap((side) =>
      (Object.keys(tlsVariables) as (keyof TlsFiles)[]).map((file): Row => {
        const name = `ISTIO_META_TLS_${side.toUpperCase()}_${tlsVariables[file]}`;
        return [name, tlsFiles[side][file], among(sources.own, `$${name}`)];
      }),
    ),
  secrets: ({ config: { secrets }, sources }) =>
    (Object.keys(secretVariables) as (keyof SecretsConfig)[]).flatMap((field): readonly Row[] => {
      const name = secretVariables[field];
      const value = field === 'tokenFile' ? policyOf(secrets.tokenFile) : secrets[field];
      return name === undefined
        ? []
        : [[name, shown(field, value, 'fields'), among(sources.secrets, `$${name}`)]];
    }),
  probes: ({ config, sources }) => [
    ['ISTIO_KUBE_APP_PROBERS', shown('probes', config.probes, 'fields'), sources.probes],
  ],
  metricsTargets: ({ config, sources }) =>
    metricsVariables.map((name): Row => {
      const targets = config.metricsTargets
        .filter(({ variable }) => variable === name)
        .map(({ port, path }) => ({ port, path }));
      return [name, targets, among(sources.metricsTargets, `$${name}`)];
    }),
  logging: ({ config: { logging }, sources }) => [
    ['log_output_level', logging.level, among(sources.logging, '--log_output_level')],
    ['log_as_json', logging.json, among(sources.logging, '--log_as_json')],
    ['log_target', logging.targets, among(sources.logging, '--log_target')],
  ],
  sources: ({ config, sources }) => [
    ['sources', shown('sources', config.sources, 'fields'), sources.sources],
  ],
  metadataVariables: ({ config }) =>
    Object.entries(config.metadataVariables).map(([name, value]) => [
      name,
      shown(name, value, 'any-name'),
      `$${name}`,
    ]),
  certificates: derived,
  watched: derived,
  awaited: derived,
  controlPlaneTls: derived,
  besidePushed: derived,
};

/**
 * Returns a complete configuration for people: times with their unit, `null` for missing values,
 * and `***` for secrets. Pure.
 */
export function presentConfig(resolved: ConfigParts): PresentedConfig {
  const rows = Object.entries(resolved.config).flatMap(([field, value]): readonly Row[] =>
    Object.hasOwn(parts, field)
      ? parts[field as keyof typeof parts](resolved)
      : [plain(field as Plain, value, resolved.sources)],
  );
  return Object.fromEntries(rows.map(([name, value, source]) => [name, { value, source }]));
}

const flagOf = new Map(
  Object.entries<Flag>(flags).map(([name, { field }]): [string | undefined, string] => [
    field,
    name,
  ]),
);

function plain(field: Plain, value: unknown, sources: Sources): Row {
  const name = field in variables ? variables[field as keyof typeof variables] : flagOf.get(field);
  return [
    name ?? field,
    shown(field, value, field === 'proxyMetadata' ? 'any-name' : 'fields'),
    sources[field],
  ];
}

/**
 * Returns the sources that set a part of a field. If one is a flag, returns only the flag, because
 * it wins.
 */
function among(sources: string, ...names: readonly string[]): string {
  const matches = sources
    .split(', ')
    .filter(
      (source) =>
        names.includes(source) || names.some((name) => source.endsWith(`: ${name.slice(2)}`)),
    );
  return (
    matches.find((source) => source.startsWith('--')) ??
    (matches.length === 0 ? 'default' : matches.join(', '))
  );
}

function policyOf(tokenFile: string): string {
  return [...tokenFiles].find(([, file]) => file === tokenFile)?.[0] ?? 'none';
}

/** Returns a value as it is shown. `any-name`: the names in it are not fields of ours. */
function shown(field: string, value: unknown, names: 'fields' | 'any-name'): unknown {
  const present = names === 'any-name' ? presentFreely : presentable;
  // A shortcut for most values, because this runs before Envoy is started.
  if (typeof value !== 'object' || value === null) return present(field, value) ?? null;
  return (
    ownMember(
      parseJson(JSON.stringify({ [field]: value }, present), undefined, Infinity) as Readonly<
        Record<string, unknown>
      >,
      field,
    ) ?? null
  );
}

function presentFreely(name: string, value: unknown): unknown {
  return typeof value === 'string' && looksSecret(name, value) ? '***' : presentable(name, value);
}

/** Returns a value in the form of PROXY_CONFIG: times with their unit, and `***` for a secret. */
function presentable(name: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  if (name === 'headers' && Array.isArray(value))
    return (value as HttpProbe['headers']).map(([header]) => [header, '***']);
  if (typeof value === 'string' && value !== '' && isUrl(name)) return shownUrl(value);
  if (typeof value === 'number' && isTime(name)) return `${value / 1000}s`;
  return typeof value === 'string' && value !== '' && isSecretName(name) ? '***' : value;
}

/** Returns a URL without user, password and query; any other text unchanged. */
function shownUrl(text: string): string {
  if (!text.includes('://') || !URL.canParse(text)) return text;
  const { protocol, username, password, host, pathname, search } = new URL(text);
  if (username + password + search === '') return text;
  return `${protocol}//${username + password === '' ? '' : '***@'}${host}${pathname}${search === '' ? '' : '?***'}`;
}

/** Says whether a value is a URL, which may contain a password, or a token in the query. */
function isUrl(name: string): boolean {
  return ['configUrl', 'consulAddress', 'httpProxy', 'url', 'address'].includes(name);
}

function isTime(name: string): boolean {
  return /(?:Duration|MaxAge)$|^(?:connectTimeout|dnsRefreshRate|minDelay|drainCap|drainMinimum|readinessTimeout|time|interval|every|timeout|ttl|initialBackOff)$/.test(
    name,
  );
}
