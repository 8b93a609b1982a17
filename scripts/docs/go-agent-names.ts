/** The Go agents of Istio whose flags and variables are distinguished. */
type GoVersion = '1.5' | '1.6' | '1.30';

type Versions = readonly GoVersion[];

/** The flags of `proxy` of the Go agents, by name, from the help pages of the programs. */
export const goFlags = byName([
  [
    ['1.5'],
    `binaryPath configPath connectTimeout controlPlaneAuthPolicy controlPlaneBootstrap customConfigFile datadogAgentAddress
     discoveryAddress dnsRefreshRate drainDuration envoyAccessLogService envoyMetricsService lightstepAccessToken lightstepAddress
     lightstepCacertPath lightstepSecure parentShutdownDuration proxyAdminPort statsdUdpAddress statusPort zipkinAddress`,
  ],
  [
    ['1.5', '1.6'],
    'disableInternalTelemetry id ip mixerIdentity pilotIdentity serviceregistry trust-domain',
  ],
  [['1.5', '1.6'], 'log_rotate log_rotate_max_age log_rotate_max_backups log_rotate_max_size'],
  [
    ['1.5', '1.6', '1.30'],
    `concurrency domain outlierLogPath proxyComponentLogLevel proxyLogLevel serviceCluster stsPort templateFile tokenManagerPlugin
     log_as_json log_caller log_output_level log_stacktrace_level log_target`,
  ],
  [['1.6', '1.30'], 'meshConfig'],
  [['1.30'], 'profiling vklog'],
]);

/** The flags of `proxy` that only older Go agents have. */
export const olderGoFlags: readonly string[] = words(
  'applicationPorts availabilityZone bootstrapv2 discoveryRefreshDelay envoyMetricsServiceAddress passthrough',
);

/**
 * The variables of the Go agents, by name, without those of linked control plane code. The names
 * come from the help and the binaries of the programs, and from the pods of their injectors.
 */
export const goVariables = byName([
  [
    ['1.5'],
    `ISTIO_AUTO_MTLS_ENABLED NAMESPACE SDS_ENABLED SDS_UDS_PATH STACKDRIVER_TRACING_DEBUG STACKDRIVER_TRACING_ENABLED
     STACKDRIVER_TRACING_MAX_NUMBER_OF_ANNOTATIONS STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES
     STACKDRIVER_TRACING_MAX_NUMBER_OF_MESSAGE_EVENTS`,
  ],
  [
    ['1.5', '1.6'],
    `ENABLE_INGRESS_GATEWAY_SDS GKE_CLUSTER_URL INGRESS_GATEWAY_FALLBACK_SECRET INGRESS_GATEWAY_NAMESPACE INITIAL_BACKOFF_MSEC
     ISTIO_META_TLS_CLIENT_CERT_CHAIN ISTIO_META_TLS_CLIENT_KEY ISTIO_META_TLS_CLIENT_ROOT_CERT ISTIO_META_TLS_SERVER_CERT_CHAIN
     ISTIO_META_TLS_SERVER_KEY ISTIO_META_TLS_SERVER_ROOT_CERT ISTIO_NAMESPACE PLUGINS SECRET_ROTATION_CHECK_INTERVAL
     SECRET_WATCHER_RESYNC_PERIOD STALED_CONNECTION_RECYCLE_RUN_INTERVAL TERMINATION_DRAIN_DURATION_SECONDS`,
  ],
  [
    ['1.5', '1.6', '1.30'],
    `CA_ADDR CA_PROVIDER GCE_METADATA_HOST GCP_METADATA HOST_IP INSTANCE_IP ISTIO_BOOTSTRAP ISTIO_BOOTSTRAP_OVERRIDE
     ISTIO_KUBE_APP_PROBERS JWT_POLICY OUTPUT_CERTS PILOT_CERT_PROVIDER PKCS8_KEY POD_NAME POD_NAMESPACE PROV_CERT
     SECRET_GRACE_PERIOD_RATIO SECRET_TTL SERVICE_ACCOUNT TRUST_DOMAIN`,
  ],
  [
    ['1.6'],
    `CANONICAL_REVISION CANONICAL_SERVICE DNS_AGENT DNS_SERVER ENVOY_READINESS_CHECK_TIMEOUT
     ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS`,
  ],
  [
    ['1.6', '1.30'],
    'ECC_SIGNATURE_ALGORITHM ENVOY_USER FILE_MOUNTED_CERTS ISTIO_META_CLUSTER_ID ISTIO_PROMETHEUS_ANNOTATIONS PROXY_CONFIG',
  ],
  [
    ['1.30'],
    `CA_ROOT_CA CLOUD_PLATFORM COMPLIANCE_POLICY CREDENTIAL_FETCHER_TYPE CREDENTIAL_IDENTITY_PROVIDER DISABLE_ENVOY
     DNS_FORWARD_PARALLEL DNS_FORWARD_TIMEOUT DNS_PROXY_ADDR DRY_RUN_FILE_PATH ECC_CURVE ENABLE_PROBE_KEEPALIVE_CONNECTIONS
     ENVOY_PROMETHEUS_PORT ENVOY_SKIP_DEPRECATED_LOGS ENVOY_STATUS_PORT ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL
     EXIT_ON_ZERO_ACTIVE_CONNECTIONS FILE_DEBOUNCE_DURATION GCP_QUOTA_PROJECT GCP_ZONE GODEBUG GOMAXPROCS GOMEMLIMIT
     GRPC_KEEPALIVE_INTERVAL GRPC_KEEPALIVE_TIMEOUT GRPC_XDS_BOOTSTRAP INBOUND_INTERCEPTION_MODE INBOUND_TPROXY_MARK
     ISTIOD_SAN ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION ISTIO_CPU_LIMIT ISTIO_DELTA_XDS ISTIO_DUAL_STACK
     ISTIO_ENABLE_HTTP2_PROBING ISTIO_ENVOY_ENABLE_CORE_DUMP ISTIO_META_CERT_SIGNER ISTIO_META_DNS_CAPTURE
     ISTIO_META_ENABLE_DNS_SERVER ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS ISTIO_MULTIROOT_MESH
     ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR ISTIO_OUTBOUND_OWNER_GROUPS ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE
     ISTIO_WASM_MAX_BINARY_SIZE_BYTES KUBERNETES_SERVICE_HOST METRICS_LOCALHOST_ACCESS_ONLY MINIMUM_DRAIN_DURATION
     PEER_METADATA_DISCOVERY PILOT_ENABLE_CA_CRL PROXY_CONFIG_XDS_AGENT REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION SECRET_GRACE_PERIOD_RATIO_JITTER
     WASM_HTTP_REQUEST_MAX_RETRIES WASM_HTTP_REQUEST_TIMEOUT WASM_INSECURE_REGISTRIES WASM_MODULE_EXPIRY WASM_PURGE_INTERVAL
     WORKLOAD_IDENTITY_SOCKET_FILE WORKLOAD_RSA_KEY_SIZE XDS_AUTH_PROVIDER XDS_ROOT_CA`,
  ],
]);

function byName(
  groups: readonly (readonly [Versions, string])[],
): Readonly<Record<string, Versions>> {
  return Object.fromEntries(
    groups.flatMap(([versions, names]) => words(names).map((name) => [name, versions])),
  );
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
