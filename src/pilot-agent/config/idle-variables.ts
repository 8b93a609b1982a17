// Why: docs/decisions/084-small-features-stay.md
import { parseBoolean, parseDuration } from '../../shared/text/value.ts';

/** A variable of a Go agent that has no effect here. */
interface IdleVariable {
  /** The value without a warning: the Go agent's default, which injectors also write. */
  readonly usual: string;
  /** Why it has no effect, and what to do instead. */
  readonly instead: string;
}

const noDns = "the agent has no DNS server: do not redirect the pod's DNS to it";
const noWasm = 'Envoy itself fetches Wasm modules';
const noNodeAgent = 'Envoy gets its secrets from this agent, and not from an agent of the node';
const rootFile = '$PILOT_CERT_PROVIDER decides where the agent looks for the root';
const ownPushes = 'the agent replaces a certificate when it is due, and recycles no connections';
const ofGateway =
  'a router with the folder /var/run/ingress_gateway gets its secrets from Kubernetes; $GATEWAY_SECRETS names another source';

/** The variables of the Go agents 1.5, 1.6 and 1.30 whose effect this agent does not have. */
export const idleVariables: Readonly<Record<string, IdleVariable>> = {
  CA_PROVIDER: {
    usual: 'Citadel',
    instead: 'the agent uses the protocol of Citadel, which istiod speaks too',
  },
  CA_ROOT_CA: { usual: '', instead: rootFile },
  CLOUD_PLATFORM: {
    usual: '',
    instead:
      'the agent detects the cloud; $GCP_METADATA sets the properties of a machine at Google',
  },
  COMPLIANCE_POLICY: {
    usual: '',
    instead: 'Node and Envoy choose their ciphers: use compliant builds of both',
  },
  CREDENTIAL_FETCHER_TYPE: {
    usual: 'JWT',
    instead: 'the token is a file, which $JWT_POLICY chooses',
  },
  CREDENTIAL_IDENTITY_PROVIDER: {
    usual: 'GoogleComputeEngine',
    instead: 'the token is a file, which $JWT_POLICY chooses',
  },
  DISABLE_ENVOY: { usual: 'false', instead: 'this agent always runs an Envoy' },
  DNS_AGENT: { usual: '', instead: noDns },
  DNS_FORWARD_PARALLEL: { usual: 'false', instead: noDns },
  DNS_FORWARD_TIMEOUT: { usual: '5s', instead: noDns },
  DNS_PROXY_ADDR: { usual: 'localhost:15053', instead: noDns },
  DNS_SERVER: { usual: '', instead: noDns },
  ECC_CURVE: { usual: 'P256', instead: 'ECDSA keys are always on P-256' },
  ENABLE_INGRESS_GATEWAY_SDS: { usual: 'false', instead: ofGateway },
  ENABLE_PROBE_KEEPALIVE_CONNECTIONS: {
    usual: 'false',
    instead: 'each probe opens a new connection',
  },
  ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL: {
    usual: 'false',
    instead: 'use $ISTIO_BOOTSTRAP_OVERRIDE to add a listener that reads the PROXY protocol',
  },
  FILE_DEBOUNCE_DURATION: { usual: '100ms', instead: 'use --minDelay' },
  GCP_QUOTA_PROJECT: { usual: '', instead: 'the agent uses only the token service of Google' },
  GCP_ZONE: { usual: '', instead: 'use $GCP_METADATA' },
  GRPC_KEEPALIVE_INTERVAL: {
    usual: '30s',
    instead: 'the agent pings the control plane every 30 s, and waits 10 s for the answer',
  },
  GRPC_KEEPALIVE_TIMEOUT: {
    usual: '10s',
    instead: 'the agent pings the control plane every 30 s, and waits 10 s for the answer',
  },
  GRPC_XDS_BOOTSTRAP: {
    usual: 'etc/istio/proxy/grpc-bootstrap.json',
    instead: 'the agent does not serve proxyless gRPC: use the Go agent for such a workload',
  },
  INGRESS_GATEWAY_FALLBACK_SECRET: { usual: 'gateway-fallback', instead: ofGateway },
  ISTIOD_SAN: {
    usual: '',
    instead: "use a name of the control plane's certificate in --discoveryAddress",
  },
  ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: { usual: 'true', instead: noWasm },
  ISTIO_DUAL_STACK: {
    usual: 'false',
    instead: 'the generated listeners are on IPv4, or on IPv6 if the node has no IPv4 address',
  },
  ISTIO_ENABLE_HTTP2_PROBING: {
    usual: 'true',
    instead: 'an HTTPS probe uses HTTP/2 if the application offers it',
  },
  ISTIO_ENVOY_ENABLE_CORE_DUMP: {
    usual: 'false',
    instead: 'set the limit of core files before the agent starts (ulimit -c)',
  },
  ISTIO_META_CERT_SIGNER: { usual: '', instead: 'the authority chooses the signer' },
  ISTIO_META_DNS_CAPTURE: { usual: 'false', instead: noDns },
  ISTIO_META_ENABLE_DNS_SERVER: { usual: 'false', instead: noDns },
  ISTIO_MULTIROOT_MESH: {
    usual: 'false',
    instead: 'the roots come from the authority and from files',
  },
  ISTIO_WASM_MAX_BINARY_SIZE_BYTES: { usual: '268435456', instead: noWasm },
  METRICS_LOCALHOST_ACCESS_ONLY: {
    usual: 'false',
    instead: 'all machines can read the metrics: restrict the status port with a network policy',
  },
  PEER_METADATA_DISCOVERY: {
    usual: 'false',
    instead: 'use $ISTIO_BOOTSTRAP_OVERRIDE to add the extension for peer metadata',
  },
  PLUGINS: {
    usual: '',
    instead:
      'the agent sends the token to the authority unchanged; --tokenManagerPlugin is for the token server',
  },
  PROXY_CONFIG_XDS_AGENT: {
    usual: 'false',
    instead: 'use $PROXY_CONFIG, the mesh file or the annotation',
  },
  SDS_ENABLED: { usual: 'false', instead: noNodeAgent },
  SDS_UDS_PATH: { usual: 'unix:/var/run/sds/uds_path', instead: noNodeAgent },
  SECRET_GRACE_PERIOD_RATIO_JITTER: { usual: '0.01', instead: 'the jitter is always 0.01' },
  SECRET_ROTATION_CHECK_INTERVAL: { usual: '5m', instead: ownPushes },
  SECRET_WATCHER_RESYNC_PERIOD: { usual: '', instead: ofGateway },
  STALED_CONNECTION_RECYCLE_RUN_INTERVAL: { usual: '5m', instead: ownPushes },
  WASM_HTTP_REQUEST_MAX_RETRIES: { usual: '5', instead: noWasm },
  WASM_HTTP_REQUEST_TIMEOUT: { usual: '15s', instead: noWasm },
  WASM_INSECURE_REGISTRIES: { usual: '', instead: noWasm },
  WASM_MODULE_EXPIRY: { usual: '24h', instead: noWasm },
  WASM_PURGE_INTERVAL: { usual: '1h', instead: noWasm },
  WORKLOAD_RSA_KEY_SIZE: { usual: '2048', instead: 'RSA keys always have 2,048 bits' },
  XDS_AUTH_PROVIDER: {
    usual: '',
    instead:
      'the agent proves its identity to the control plane with the token or the certificate of the workload',
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
