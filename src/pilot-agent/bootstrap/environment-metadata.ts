import type { Findings, Json } from './proto-json.ts';
import { parseJson, TooDeep } from '../../shared/text/parse-json.ts';
import { isObject } from '../../shared/text/is-object.ts';

/** The node metadata that environment variables set. */
export interface EnvironmentMetadata {
  /** By name, each with the variable that set it. */
  readonly members: ReadonlyMap<string, { readonly value: Json; readonly variable: string }>;
  /** The labels of the pod. */
  readonly labels: Readonly<Record<string, string>>;
}

type JsonObject = Readonly<Record<string, Json>>;

/**
 * The greatest depth of JSON. Envoy refuses 100 levels. Other readers of protobuf also stop at 100,
 * and count each level of JSON as three.
 */
const deepest = 30;
/**
 * Annotations that the control plane does not get: they can hold the access token of a tracer, or
 * the environment of the whole pod.
 */
const secret = ['proxy.istio.io/config', 'kubectl.kubernetes.io/last-applied-configuration'];

/**
 * Returns the node metadata that the environment sets. `ISTIO_META_<NAME>` sets a text;
 * `ISTIO_METAJSON_<ANY>` is an object whose members are all set. If two variables set a member, the
 * later one wins. Variables that begin with `ISTIO_META_WORKLOAD` do not count, except the name of
 * the workload. A text that is not a JSON object is left out with a warning; for the labels it is a
 * problem. Pure.
 */
export function environmentMetadata(
  env: Readonly<Record<string, string | undefined>>,
  { problems, warnings }: Findings,
): EnvironmentMetadata {
  const members = new Map<string, { readonly value: Json; readonly variable: string }>();
  let labels = {};
  for (const [variable, text = ''] of Object.entries(env)) {
    const [, json, name = ''] = /^ISTIO_META(JSON)?_(.+)$/s.exec(variable) ?? [];
    if (json !== undefined) {
      const object = parse(text);
      if (typeof object === 'string') {
        if (name === 'LABELS') problems.push({ place: variable, text: object });
        else warnings.push(`${variable}: ${object}: it is left out`);
        continue;
      }
      for (const [member, value] of Object.entries(object))
        members.set(member, { value, variable });
      if (name === 'LABELS')
        labels = texts(object, (label) =>
          warnings.push(`${variable}: the label ${label} is left out: it is not a text`),
        );
    } else if (name === 'WORKLOAD_NAME' || (name !== '' && !name.startsWith('WORKLOAD')))
      members.set(name, { value: text, variable });
  }
  return { members, labels };
}

/** Returns the object, or what is wrong with the text. */
function parse(text: string): JsonObject | string {
  let value;
  try {
    value = parseJson(text, undefined, deepest) as Json;
  } catch (error) {
    if (error instanceof TooDeep) return `is nested more than ${deepest} levels deep`;
    // The parser's own message repeats the text, which may hold a secret.
    return `is not JSON, such as '{"app":"shop"}'`;
  }
  if (!isObject(value)) return 'is not a JSON object';
  return depth(value) > deepest ? `is nested more than ${deepest} levels deep` : tellable(value);
}

/** Returns how deep a value is nested. Stops when it is too deep. */
function depth(value: Json, level = 0): number {
  if (typeof value !== 'object' || value === null || level > deepest) return level;
  return Math.max(
    level + 1,
    ...Object.values(value).map((member: Json) => depth(member, level + 1)),
  );
}

function tellable(object: JsonObject): JsonObject {
  const members = Object.entries(object).filter(([name]) => !secret.includes(name));
  return Object.fromEntries(
    members.map(([name, value]) => [name, isObject(value) ? tellable(value) : value]),
  );
}

function texts(
  object: JsonObject,
  onOther: (name: string) => void,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      if (typeof value === 'string') return [[name, value]];
      onOther(name);
      return [];
    }),
  );
}

/**
 * Returns the ports of the pod as Pilot reads them, from a text with a JSON list; undefined if the
 * text holds no such list. Pure.
 */
export function podPorts(text: string): string | undefined {
  try {
    const value = parseJson(text) as Json;
    if (!Array.isArray(value)) return undefined;
    const ports = value.map((port: Json) => {
      if (!isObject(port)) return undefined;
      const { name, containerPort = 0, protocol = '' } = port;
      const fits =
        ['string', 'undefined'].includes(typeof name) &&
        Number.isInteger(containerPort) &&
        typeof protocol === 'string';
      return fits ? { name: name === '' ? undefined : name, containerPort, protocol } : undefined;
    });
    return ports.includes(undefined) ? undefined : JSON.stringify(ports);
  } catch {
    return undefined;
  }
}

type Check = readonly [right: string, holds: (value: Json) => boolean];

const text: Check = ['a text', (value) => typeof value === 'string'];
const truth: Check = [
  '"true" or "false"',
  (value) =>
    typeof value === 'string' && /^(?:[tTfF01]|true|false|True|False|TRUE|FALSE)$/.test(value),
];
const object: Check = ['an object', (value) => typeof value === 'object' && !Array.isArray(value)];
const objectOfTexts: Check = [
  'an object of texts',
  (value) =>
    object[1](value) && Object.values(value ?? {}).every((member) => typeof member === 'string'),
];
const ports: Check = [
  'a text with a JSON list of ports',
  (value) => typeof value !== 'string' || podPorts(value) !== undefined,
];

const ofText = `
  NAME NAMESPACE CONFIG_NAMESPACE INSTANCE_IPS OWNER WORKLOAD_NAME SERVICE_ACCOUNT EXCHANGE_KEYS STS_PORT ISTIO_VERSION INTERCEPTION_MODE
  ROUTER_MODE MESH_ID CLUSTER_ID NETWORK REQUESTED_NETWORK_VIEW CANONICAL_TELEMETRY_SERVICE istio-locality istio.io/insecurepath
  policy.istio.io/check policy.istio.io/checkRetries policy.istio.io/checkBaseRetryWaitTime policy.istio.io/checkMaxRetryWaitTime
  sidecar.istio.io/statsInclusionPrefixes sidecar.istio.io/statsInclusionRegexps sidecar.istio.io/statsInclusionSuffixes
  sidecar.istio.io/extraStatTags TLS_SERVER_CERT_CHAIN TLS_SERVER_KEY TLS_SERVER_ROOT_CERT TLS_CLIENT_CERT_CHAIN TLS_CLIENT_KEY
  TLS_CLIENT_ROOT_CERT SDS_TOKEN_PATH BASE IDLE_TIMEOUT HTTP10 GENERATOR`;

/** The members that Pilot interprets; it passes the others on. */
const checks = new Map<string, Check>([
  ...ofText
    .trim()
    .split(/\s+/)
    .map((name) => [name, text] as const),
  ...['SDS', 'TRUSTJWT', 'USER_SDS'].map((name) => [name, truth] as const),
  ['LABELS', objectOfTexts],
  ['PLATFORM_METADATA', object],
  ['PROXY_CONFIG', object],
  ['POD_PORTS', ports],
]);

/**
 * Returns why a member of the node metadata has a type that Pilot does not expect; undefined if the
 * type is right. `null` always fits. Pure.
 */
export function metadataFlaw(name: string, value: Json): string | undefined {
  const check = checks.get(name);
  return check === undefined || value === null || check[1](value)
    ? undefined
    : `${name} is not ${check[0]}`;
}
