import type { Json } from './json.ts';
import { podPorts } from './pod-ports.ts';

type Check = readonly [right: string, holds: (value: Json) => boolean];

const text: Check = ['a text', (value) => typeof value === 'string'];
const truth: Check = ['"true" or "false"', (value) => typeof value === 'string' && /^(?:[tTfF01]|true|false|True|False|TRUE|FALSE)$/.test(value)]; // prettier-ignore
const object: Check = ['an object', (value) => typeof value === 'object' && !Array.isArray(value)];
const texts: Check = ['an object of texts', (value) => object[1](value) && Object.values(value ?? {}).every((member) => typeof member === 'string')]; // prettier-ignore
const ports: Check = ['a text with a JSON list of ports', (value) => typeof value !== 'string' || podPorts(value) !== undefined];

const ofText = `
  NAME NAMESPACE CONFIG_NAMESPACE INSTANCE_IPS OWNER WORKLOAD_NAME SERVICE_ACCOUNT EXCHANGE_KEYS STS_PORT ISTIO_VERSION INTERCEPTION_MODE
  ROUTER_MODE MESH_ID CLUSTER_ID NETWORK REQUESTED_NETWORK_VIEW CANONICAL_TELEMETRY_SERVICE istio-locality istio.io/insecurepath
  policy.istio.io/check policy.istio.io/checkRetries policy.istio.io/checkBaseRetryWaitTime policy.istio.io/checkMaxRetryWaitTime
  sidecar.istio.io/statsInclusionPrefixes sidecar.istio.io/statsInclusionRegexps sidecar.istio.io/statsInclusionSuffixes
  sidecar.istio.io/extraStatTags TLS_SERVER_CERT_CHAIN TLS_SERVER_KEY TLS_SERVER_ROOT_CERT TLS_CLIENT_CERT_CHAIN TLS_CLIENT_KEY
  TLS_CLIENT_ROOT_CERT SDS_TOKEN_PATH BASE IDLE_TIMEOUT HTTP10 GENERATOR`;

/** What Pilot does more with than pass it on. */
const checks = new Map<string, Check>([
  ...ofText.trim().split(/\s+/).map((name) => [name, text] as const), // prettier-ignore
  ...['SDS', 'TRUSTJWT', 'USER_SDS'].map((name) => [name, truth] as const),
  ['LABELS', texts],
  ['PLATFORM_METADATA', object],
  ['PROXY_CONFIG', object],
  ['POD_PORTS', ports],
]);

/** Why a member of the node metadata is not what Pilot takes it for; undefined if it is. Nothing (null) is. Pure. */
export function metadataFlaw(name: string, value: Json): string | undefined {
  const check = checks.get(name);
  return check === undefined || value === null || check[1](value) ? undefined : `${name} is not ${check[0]}`;
}
