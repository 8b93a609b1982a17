/**
 * A flag of `proxy`: its value's kind on the help page, what it means, and its default as a user
 * would write it.
 */
export interface Flag {
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
 * the last six with an effect are this agent's own.
 */
export const flags = {
  binaryPath: { value: 'path', text: 'Envoy binary; without it: /usr/local/bin/envoy, $ENVOY_BIN, PATH, the cache', default: '' },
  configPath: { value: 'dir', text: 'folder for what the agent writes', default: '/etc/istio/proxy' },
  customConfigFile: { value: 'file', text: 'the Envoy configuration to use; nothing is generated', default: '' },
  templateFile: {
    value: 'file',
    text: 'template of the Envoy configuration; $ISTIO_BOOTSTRAP wins',
    default: '',
    field: 'proxyBootstrapTemplatePath',
  },
  meshConfig: {
    value: 'file',
    text: 'mesh configuration, of which defaultConfig counts; may be missing',
    default: './etc/istio/config/mesh',
  },
  drainDuration: { value: 'duration', text: 'how long an old epoch drains', default: '45s' },
  parentShutdownDuration: { value: 'duration', text: 'when an old epoch is gone; more than --drainDuration', default: '1m0s' },
  discoveryAddress: { value: 'host:port', text: 'control plane (xDS)', default: 'istio-pilot:15010' },
  controlPlaneAuthPolicy: { value: 'policy', text: 'towards the control plane: NONE or MUTUAL_TLS', default: 'NONE' },
  connectTimeout: { value: 'duration', text: 'for connections to the control plane, 1ms to 30s', default: '1s' },
  dnsRefreshRate: { value: 'duration', text: 'how often names in the generated configuration are resolved', default: '300s' },
  proxyAdminPort: { value: 'port', text: "port of Envoy's admin endpoint", default: '15000' },
  statusPort: { value: 'port', text: 'port of the status server; 0 = none', default: '15020' },
  serviceCluster: { value: 'name', text: "Envoy's --service-cluster", default: 'istio-proxy' },
  concurrency: { value: 'n', text: "Envoy's worker threads; 0 = one for each core", default: '0' },
  proxyLogLevel: { value: 'level', text: "Envoy's log level", default: 'warning' },
  proxyComponentLogLevel: { value: 'levels', text: "log levels of Envoy's components, name:level,…", default: 'misc:error' },
  outlierLogPath: { value: 'path', text: 'where Envoy logs the hosts that it ejects', default: '' },
  statsdUdpAddress: { value: 'host:port', text: 'statsd server for the statistics', default: '' },
  envoyMetricsServiceAddress: {
    value: 'host:port',
    text: 'metrics service; --envoyMetricsService says more, and wins',
    default: '',
    field: 'envoyMetricsService.address',
  },
  envoyMetricsService: { value: 'json', text: 'metrics service: address, tlsSettings, tcpKeepalive', default: '' },
  envoyAccessLogService: { value: 'json', text: 'access-log service: address, tlsSettings, tcpKeepalive', default: '' },
  lightstepAddress: { value: 'host:port', text: 'LightStep satellite for the traces', default: '', field: 'tracing.lightstep.address' },
  lightstepAccessToken: { value: 'token', text: 'token for the satellite', default: '', field: 'tracing.lightstep.accessToken' },
  lightstepSecure: { value: 'bool', text: 'TLS to the satellite', default: 'false', field: 'tracing.lightstep.secure' },
  lightstepCacertPath: { value: 'file', text: "CA of the satellite's certificate", default: '', field: 'tracing.lightstep.cacertPath' },
  zipkinAddress: { value: 'host:port', text: 'Zipkin collector for the traces', default: '', field: 'tracing.zipkin.address' },
  datadogAgentAddress: { value: 'host:port', text: 'Datadog agent for the traces', default: '', field: 'tracing.datadog.address' },
  serviceregistry: { value: 'name', text: 'Kubernetes, Consul or another platform', default: 'Kubernetes' },
  id: { value: 'text', text: 'node id; without it $POD_NAME.$POD_NAMESPACE', default: '' },
  ip: { value: 'ip', text: 'address of the node; without it $INSTANCE_IP', default: '' },
  domain: { value: 'name', text: 'DNS domain; without it $POD_NAMESPACE.svc.cluster.local', default: '' },
  'trust-domain': { value: 'name', text: 'SPIFFE trust domain', default: '', field: 'trustDomain' },
  pilotIdentity: { value: 'path', text: "SPIFFE path in the control plane's certificate", default: '' },
  mixerIdentity: { value: 'path', text: "SPIFFE path in Mixer's certificate, for templates", default: '' },
  disableInternalTelemetry: { value: 'bool', text: 'DisableReportCalls in a template', default: 'false' },
  stsPort: { value: 'port', text: 'port of the token server; 0 = none', default: '0' },
  tokenManagerPlugin: { value: 'name', text: 'what gets the tokens', default: 'GoogleTokenExchange' },
  openTelemetryAddress: {
    value: 'host:port',
    text: 'OpenTelemetry collector (OTLP over gRPC) for the traces',
    default: '',
    field: 'tracing.openTelemetry.address',
  },
  minDelay: { value: 'duration', text: 'from the first change of a file to the reading of all', default: '10s' },
  envoyRestartPolicy: { value: 'policy', text: 'after a crash: backoff (start Envoy again) or exit', default: 'backoff' },
  envoyRestartBudget: { value: 'n', text: 'restarts after crashes in a row before the agent ends; 0 = no limit', default: '10' },
  rotation: {
    value: 'way',
    text: 'of a changed certificate: hot-restart or sds; without it: sds if Envoy asks the socket of the agent',
    default: '',
  },
  keepEnvoy: { value: 'bool', text: 'Envoy outlives the agent, and the next agent goes on with it', default: 'false' },
  controlPlaneBootstrap: { value: 'bool', text: 'without effect', default: 'true', ignored: true },
  applicationPorts: { value: 'ports', text: 'without effect', default: '', ignored: true },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

/**
 * The logging flags of all commands, by name; names and defaults are those of the Go agent.
 * `log_target` may be given more than once.
 */
export const logFlags = {
  log_output_level: { value: 'levels', text: 'from which level on to log: level, or scope:level,…', default: 'default:info' },
  log_as_json: { value: 'bool', text: 'log JSON on a terminal too', default: 'false' },
  log_target: { value: 'path', text: 'where to log: a file, stdout or stderr; may be repeated', default: 'stdout' },
  log_caller: { value: 'scopes', text: 'ignored: a line names its component', default: '' },
  log_stacktrace_level: { value: 'levels', text: 'ignored: only a bug has a stack trace', default: 'default:none' },
  log_rotate: { value: 'file', text: 'ignored: move a file of --log_target away, then send SIGUSR1', default: '' },
  log_rotate_max_age: { value: 'days', text: 'ignored, as --log_rotate is', default: '30' },
  log_rotate_max_size: { value: 'megabytes', text: 'ignored, as --log_rotate is', default: '104857600' },
  log_rotate_max_backups: { value: 'n', text: 'ignored, as --log_rotate is', default: '1000' },
} as const satisfies Readonly<Record<string, Flag>>;

export type LogFlagName = keyof typeof logFlags;
