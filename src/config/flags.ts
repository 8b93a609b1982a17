/** What a flag is about, and how a page names that: the groups of flags, in the order of a page. */
export const flagGroups = {
  Envoy: 'Envoy',
  mesh: 'Mesh',
  certificates: 'Certificates and tokens',
  lifecycle: 'Lifecycle',
  status: 'Status, metrics and traces',
  logging: 'Logging',
} as const;

/**
 * A flag of `proxy`: its value's kind on the help page, what it means, and its default as a user
 * would write it.
 */
export interface Flag {
  readonly group: keyof typeof flagGroups;
  /** `bool`: the flag alone is `true`, and a value follows after `=` only. */
  readonly value: string;
  readonly text: string;
  readonly default: string;
  /** The path of what it sets in the configuration, where that is not the flag's name. */
  readonly field?: string;
  /** Taken for the sake of templates that were made for other versions. */
  readonly ignored?: true;
}

/**
 * The flags of `proxy`, by name. Names, units and defaults are those of the Go agent 1.5 and 1.6;
 * the last nine with an effect are this agent's own.
 */
export const flags = {
  binaryPath: {
    group: 'Envoy',
    value: 'path',
    text: 'the Envoy to run; if not given: /usr/local/bin/envoy, $ENVOY_BIN, PATH, the cache',
    default: '',
  },
  configPath: { group: 'Envoy', value: 'dir', text: 'folder for the files that the agent writes', default: '/etc/istio/proxy' },
  customConfigFile: { group: 'Envoy', value: 'file', text: 'the Envoy configuration; the agent generates nothing then', default: '' },
  templateFile: {
    group: 'Envoy',
    value: 'file',
    text: 'template of the Envoy configuration; $ISTIO_BOOTSTRAP wins over it',
    default: '',
    field: 'proxyBootstrapTemplatePath',
  },
  meshConfig: {
    group: 'mesh',
    value: 'file',
    text: 'mesh configuration, of which only defaultConfig counts; the file may be missing',
    default: './etc/istio/config/mesh',
  },
  drainDuration: { group: 'lifecycle', value: 'duration', text: 'how long an old Envoy drains after a hot restart', default: '45s' },
  parentShutdownDuration: {
    group: 'lifecycle',
    value: 'duration',
    text: 'when an old Envoy ends after a hot restart; must be longer than --drainDuration',
    default: '1m0s',
  },
  discoveryAddress: { group: 'mesh', value: 'host:port', text: 'address of the control plane (xDS)', default: 'istio-pilot:15010' },
  controlPlaneAuthPolicy: {
    group: 'mesh',
    value: 'policy',
    text: 'how Envoy connects to the control plane: NONE (plaintext) or MUTUAL_TLS',
    default: 'NONE',
  },
  connectTimeout: { group: 'mesh', value: 'duration', text: 'timeout of connections to the control plane; from 1ms to 30s', default: '1s' },
  dnsRefreshRate: {
    group: 'Envoy',
    value: 'duration',
    text: 'how often Envoy resolves names in the generated configuration',
    default: '300s',
  },
  proxyAdminPort: { group: 'Envoy', value: 'port', text: "port of Envoy's admin endpoint", default: '15000' },
  statusPort: { group: 'status', value: 'port', text: 'port of the status server; 0: none', default: '15020' },
  serviceCluster: { group: 'Envoy', value: 'name', text: "Envoy's --service-cluster", default: 'istio-proxy' },
  concurrency: {
    group: 'Envoy',
    value: 'n',
    text: "number of Envoy's worker threads; 0: one for each core; if not given: by the limit",
    default: '',
  },
  proxyLogLevel: { group: 'logging', value: 'level', text: "Envoy's log level", default: 'warning' },
  proxyComponentLogLevel: {
    group: 'logging',
    value: 'levels',
    text: "log levels of Envoy's components, name:level,…",
    default: 'misc:error',
  },
  outlierLogPath: { group: 'logging', value: 'path', text: 'file in which Envoy logs the hosts that it ejects', default: '' },
  statsdUdpAddress: { group: 'status', value: 'host:port', text: "statsd server for Envoy's statistics", default: '' },
  envoyMetricsServiceAddress: {
    group: 'status',
    value: 'host:port',
    text: 'metrics service; --envoyMetricsService wins over it',
    default: '',
    field: 'envoyMetricsService.address',
  },
  envoyMetricsService: { group: 'status', value: 'json', text: 'metrics service, with address, tlsSettings and tcpKeepalive', default: '' },
  envoyAccessLogService: {
    group: 'logging',
    value: 'json',
    text: 'access-log service, with address, tlsSettings and tcpKeepalive',
    default: '',
  },
  lightstepAddress: {
    group: 'status',
    value: 'host:port',
    text: 'LightStep satellite for traces',
    default: '',
    field: 'tracing.lightstep.address',
  },
  lightstepAccessToken: {
    group: 'status',
    value: 'token',
    text: 'access token for the LightStep satellite',
    default: '',
    field: 'tracing.lightstep.accessToken',
  },
  lightstepSecure: {
    group: 'status',
    value: 'bool',
    text: 'use TLS to the LightStep satellite',
    default: 'false',
    field: 'tracing.lightstep.secure',
  },
  lightstepCacertPath: {
    group: 'status',
    value: 'file',
    text: "CA of the LightStep satellite's certificate",
    default: '',
    field: 'tracing.lightstep.cacertPath',
  },
  zipkinAddress: { group: 'status', value: 'host:port', text: 'Zipkin collector for traces', default: '', field: 'tracing.zipkin.address' },
  datadogAgentAddress: {
    group: 'status',
    value: 'host:port',
    text: 'Datadog agent for traces',
    default: '',
    field: 'tracing.datadog.address',
  },
  serviceregistry: {
    group: 'mesh',
    value: 'name',
    text: 'platform, which decides on the defaults of --id and --domain: Kubernetes, Consul or another name',
    default: 'Kubernetes',
  },
  id: { group: 'mesh', value: 'text', text: 'node ID; if not given: $POD_NAME.$POD_NAMESPACE', default: '' },
  ip: { group: 'mesh', value: 'ip', text: 'IP address of the node; if not given: $INSTANCE_IP', default: '' },
  domain: { group: 'mesh', value: 'name', text: 'DNS domain; if not given: $POD_NAMESPACE.svc.cluster.local', default: '' },
  'trust-domain': { group: 'certificates', value: 'name', text: 'SPIFFE trust domain', default: '', field: 'trustDomain' },
  pilotIdentity: { group: 'certificates', value: 'path', text: "SPIFFE path that the control plane's certificate may have", default: '' },
  mixerIdentity: {
    group: 'certificates',
    value: 'path',
    text: "SPIFFE path that Mixer's certificate may have; for templates",
    default: '',
  },
  disableInternalTelemetry: { group: 'status', value: 'bool', text: 'value of DisableReportCalls in a template', default: 'false' },
  stsPort: { group: 'certificates', value: 'port', text: 'port of the token server; 0: none', default: '0' },
  tokenManagerPlugin: {
    group: 'certificates',
    value: 'name',
    text: 'plugin that gets the tokens for the token server',
    default: 'GoogleTokenExchange',
  },
  openTelemetryAddress: {
    group: 'status',
    value: 'host:port',
    text: 'OpenTelemetry collector (OTLP over gRPC) for traces',
    default: '',
    field: 'tracing.openTelemetry.address',
  },
  minDelay: {
    group: 'lifecycle',
    value: 'duration',
    text: 'time from the first change of a file until the agent reads all files',
    default: '10s',
  },
  envoyRestartPolicy: {
    group: 'lifecycle',
    value: 'policy',
    text: 'after a crash of Envoy: backoff starts it again, exit ends the agent',
    default: 'backoff',
  },
  envoyRestartBudget: {
    group: 'lifecycle',
    value: 'n',
    text: 'number of restarts after crashes in a row before the agent ends; 0: no limit',
    default: '10',
  },
  xdsProxy: {
    group: 'mesh',
    value: 'bool',
    text: 'Envoy takes its configuration (xDS) from the agent',
    default: 'true',
  },
  xdsStoreMaxAge: {
    group: 'mesh',
    value: 'duration',
    text: 'oldest stored configuration that a new Envoy may get',
    default: '24h0m0s',
  },
  rotation: {
    group: 'certificates',
    value: 'way',
    text: 'how a changed certificate reaches Envoy: hot-restart or sds; if not given: sds if Envoy asks the socket of the agent',
    default: '',
  },
  keepEnvoy: {
    group: 'lifecycle',
    value: 'bool',
    text: 'leave Envoy running when the agent ends; the next agent takes it over',
    default: 'false',
  },
  profiling: { group: 'status', value: 'bool', text: 'answer /debug/pprof to those who have the token', default: 'false' },
  controlPlaneBootstrap: { group: 'Envoy', value: 'bool', text: 'no effect; only old templates use it', default: 'true', ignored: true },
  applicationPorts: { group: 'status', value: 'ports', text: 'no effect; only old templates use it', default: '', ignored: true },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

/**
 * The logging flags of all commands, by name; names and defaults are those of the Go agent.
 * `log_target` may be given more than once.
 */
export const logFlags = {
  log_output_level: { group: 'logging', value: 'levels', text: 'lowest level to log: level, or scope:level,…', default: 'default:info' },
  log_as_json: { group: 'logging', value: 'bool', text: 'log JSON to a terminal too', default: 'false' },
  log_target: { group: 'logging', value: 'path', text: 'where to log: a file, stdout or stderr; may be repeated', default: 'stdout' },
  log_caller: { group: 'logging', value: 'scopes', text: 'ignored: each line names its component', default: '' },
  log_stacktrace_level: {
    group: 'logging',
    value: 'levels',
    text: 'ignored: only bugs and failed parts have a stack trace',
    default: 'default:none',
  },
  log_rotate: {
    group: 'logging',
    value: 'file',
    text: 'ignored: to rotate, move the file of --log_target away, then send SIGUSR1',
    default: '',
  },
  log_rotate_max_age: { group: 'logging', value: 'days', text: 'ignored, like --log_rotate', default: '30' },
  log_rotate_max_size: { group: 'logging', value: 'megabytes', text: 'ignored, like --log_rotate', default: '104857600' },
  log_rotate_max_backups: { group: 'logging', value: 'n', text: 'ignored, like --log_rotate', default: '1000' },
} as const satisfies Readonly<Record<string, Flag>>;

export type LogFlagName = keyof typeof logFlags;
