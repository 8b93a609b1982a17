// Why: docs/decisions/084-small-features-stay.md
import { parseBoolean, parseDuration } from '../../shared/text/value.ts';

/** A variable of a Go agent that has no effect here. */
interface IdleVariable {
  /** The value that changes nothing: the Go agent's default, which injectors also write. */
  readonly usual: string;
  /** Why it has no effect, and what to do instead. */
  readonly instead: string;
}

const noDns = "there is no DNS server here: do not redirect the pod's DNS to the agent";
const noWasm = 'Envoy itself fetches Wasm modules';
const noNodeAgent = 'Envoy gets its secrets from this agent, and from no agent of the node';
const rootFile = 'put the root where $PILOT_CERT_PROVIDER says';
const ownPushes = 'a certificate is replaced when its time has come, and no stream is swept away';
const ofGateway =
  'a router with /var/run/ingress_gateway takes its secrets from Kubernetes; $GATEWAY_SECRETS names another source';

/** The variables of the Go agents 1.5, 1.6 and 1.30 whose effect this agent does not have. */
export const idleVariables: Readonly<Record<string, IdleVariable>> = {
  CA_PROVIDER: {
    usual: 'Citadel',
    instead: 'the authority is asked by the protocol of Citadel, which istiod speaks',
  },
  CA_ROOT_CA: { usual: '', instead: rootFile },
  CLOUD_PLATFORM: {
    usual: '',
    instead:
      'the machine says which cloud it is of; $GCP_METADATA says what is known of one at Google',
  },
  COMPLIANCE_POLICY: {
    usual: '',
    instead: 'Node and Envoy decide on their ciphers: run builds of both that comply',
  },
  CREDENTIAL_FETCHER_TYPE: { usual: 'JWT', instead: 'the token is a file: $JWT_POLICY says which' },
  CREDENTIAL_IDENTITY_PROVIDER: {
    usual: 'GoogleComputeEngine',
    instead: 'the token is a file: $JWT_POLICY says which',
  },
  DISABLE_ENVOY: { usual: 'false', instead: 'this agent always runs an Envoy' },
  DNS_AGENT: { usual: '', instead: noDns },
  DNS_FORWARD_PARALLEL: { usual: 'false', instead: noDns },
  DNS_FORWARD_TIMEOUT: { usual: '5s', instead: noDns },
  DNS_PROXY_ADDR: { usual: 'localhost:15053', instead: noDns },
  DNS_SERVER: { usual: '', instead: noDns },
  ECC_CURVE: { usual: 'P256', instead: 'keys of ECDSA are on P-256' },
  ENABLE_INGRESS_GATEWAY_SDS: { usual: 'false', instead: ofGateway },
  ENABLE_PROBE_KEEPALIVE_CONNECTIONS: {
    usual: 'false',
    instead: 'each probe has a connection of its own',
  },
  ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL: {
    usual: 'false',
    instead: 'give such a listener by $ISTIO_BOOTSTRAP_OVERRIDE',
  },
  FILE_DEBOUNCE_DURATION: { usual: '100ms', instead: 'use --minDelay' },
  GCP_QUOTA_PROJECT: { usual: '', instead: 'no service of Google but its token service is asked' },
  GCP_ZONE: { usual: '', instead: 'use $GCP_METADATA' },
  GRPC_KEEPALIVE_INTERVAL: {
    usual: '30s',
    instead: 'the pings to the control plane have fixed times',
  },
  GRPC_KEEPALIVE_TIMEOUT: {
    usual: '10s',
    instead: 'the pings to the control plane have fixed times',
  },
  GRPC_XDS_BOOTSTRAP: {
    usual: 'etc/istio/proxy/grpc-bootstrap.json',
    instead: 'a workload that speaks gRPC without a proxy is not served: use the Go agent for it',
  },
  INGRESS_GATEWAY_FALLBACK_SECRET: { usual: 'gateway-fallback', instead: ofGateway },
  ISTIOD_SAN: {
    usual: '',
    instead: 'name the control plane in --discoveryAddress as its certificate does',
  },
  ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: { usual: 'true', instead: noWasm },
  ISTIO_DUAL_STACK: {
    usual: 'false',
    instead: 'the generated listeners are on IPv4, or on IPv6 if the node has nothing else',
  },
  ISTIO_ENABLE_HTTP2_PROBING: {
    usual: 'true',
    instead: 'a probe by HTTPS uses HTTP/2 if the application does',
  },
  ISTIO_ENVOY_ENABLE_CORE_DUMP: {
    usual: 'false',
    instead: 'set the limit of core files outside (ulimit -c)',
  },
  ISTIO_META_CERT_SIGNER: { usual: '', instead: 'the authority alone chooses who signs' },
  ISTIO_META_DNS_CAPTURE: { usual: 'false', instead: noDns },
  ISTIO_META_ENABLE_DNS_SERVER: { usual: 'false', instead: noDns },
  ISTIO_MULTIROOT_MESH: {
    usual: 'false',
    instead: 'the roots are those that the authority and the files have',
  },
  ISTIO_WASM_MAX_BINARY_SIZE_BYTES: { usual: '268435456', instead: noWasm },
  METRICS_LOCALHOST_ACCESS_ONLY: {
    usual: 'false',
    instead: 'the metrics are open to all: restrict the status port by a network policy',
  },
  PEER_METADATA_DISCOVERY: {
    usual: 'false',
    instead: 'give that extension by $ISTIO_BOOTSTRAP_OVERRIDE',
  },
  PLUGINS: {
    usual: '',
    instead:
      'the authority is shown the token as it is; --tokenManagerPlugin is for the token server',
  },
  PROXY_CONFIG_XDS_AGENT: {
    usual: 'false',
    instead: 'use $PROXY_CONFIG, the mesh file or the annotation',
  },
  SDS_ENABLED: { usual: 'false', instead: noNodeAgent },
  SDS_UDS_PATH: { usual: 'unix:/var/run/sds/uds_path', instead: noNodeAgent },
  SECRET_GRACE_PERIOD_RATIO_JITTER: { usual: '0.01', instead: 'it is always 0.01' },
  SECRET_ROTATION_CHECK_INTERVAL: { usual: '5m', instead: ownPushes },
  SECRET_WATCHER_RESYNC_PERIOD: { usual: '', instead: ofGateway },
  STALED_CONNECTION_RECYCLE_RUN_INTERVAL: { usual: '5m', instead: ownPushes },
  WASM_HTTP_REQUEST_MAX_RETRIES: { usual: '5', instead: noWasm },
  WASM_HTTP_REQUEST_TIMEOUT: { usual: '15s', instead: noWasm },
  WASM_INSECURE_REGISTRIES: { usual: '', instead: noWasm },
  WASM_MODULE_EXPIRY: { usual: '24h', instead: noWasm },
  WASM_PURGE_INTERVAL: { usual: '1h', instead: noWasm },
  WORKLOAD_IDENTITY_SOCKET_FILE: {
    usual: 'socket',
    instead:
      'Envoy gets its secrets from this agent: have them in files, and name these by $ISTIO_META_TLS_CLIENT_KEY and so on',
  },
  WORKLOAD_RSA_KEY_SIZE: { usual: '2048', instead: 'keys of RSA have 2048 bits' },
  XDS_AUTH_PROVIDER: {
    usual: '',
    instead: 'the control plane is shown the token or the certificate of the workload',
  },
  XDS_ROOT_CA: { usual: '', instead: rootFile },
};

/**
 * Returns a warning for each variable that is set and has no effect, unless its value is the usual
 * one or empty. Pure.
 */
export function idleWarnings(env: NodeJS.ProcessEnv): readonly string[] {
  const given = new Map(Object.entries(env));
  return Object.entries(idleVariables).flatMap(([name, { usual, instead }]) => {
    const text = given.get(name) ?? '';
    return text === '' || sense(text) === sense(usual) ? [] : [`${name} has no effect: ${instead}`];
  });
}

/** Returns the same value for texts that Go reads alike: `5m` and `5m0s`, `true` and `1`. */
function sense(text: string): boolean | number | string {
  return parseBoolean(text) ?? parseDuration(text) ?? text;
}
