import { type Flag, flagGroups } from '../../src/shared/text/flag.ts';
import { type FlagName, flags } from '../../src/pilot-agent/config/flags.ts';
import { logFlags, type LogFlagName } from '../../src/shared/log/log-flags.ts';
import {
  code,
  list,
  page,
  paragraph,
  section,
  sentence,
  shortRow,
  table,
  typedFlag,
} from './markdown.ts';

/** Details of a flag that the help page has no room for. */
const more: Readonly<Partial<Record<FlagName | LogFlagName, string>>> = {
  binaryPath:
    'The agent runs this Envoy and no other. A name without `/` is looked up in `PATH`. Without the flag, the agent runs the first of these ' +
    'that exists: `/usr/local/bin/envoy`, the file in `ENVOY_BIN`, `envoy` in `PATH`, the cache.',
  configPath:
    'The agent creates the folder if it does not exist. [Files](files.md) lists its content.',
  customConfigFile: 'The file may have any format that Envoy reads, such as `.json` or `.yaml`.',
  templateFile: 'It is used if there is no `--customConfigFile`. `ISTIO_BOOTSTRAP` wins over it.',
  meshConfig:
    'A MeshConfig in YAML or JSON. Only its `defaultConfig` counts: it is one of the [layers](layers.md). The file may be missing.',
  drainDuration:
    'The agent passes it to Envoy as `--drain-time-s`, in whole seconds. It rounds a part of a second down.',
  parentShutdownDuration:
    'The agent passes it to Envoy as `--parent-shutdown-time-s`, in whole seconds. It rounds a part of a second up. The value must be longer than `--drainDuration`.',
  discoveryAddress:
    'If `PILOT_CERT_PROVIDER` is set, as injectors do, the default is `istiod.istio-system.svc:15012`, as in the Go agents from 1.6 on.',
  controlPlaneAuthPolicy:
    '`NONE` is plaintext. `MUTUAL_TLS` is TLS with a client certificate. On port 15012 the policy is `MUTUAL_TLS`, unless `FILE_MOUNTED_CERTS` is set.',
  connectTimeout: 'The value is from 1 ms to 30 s.',
  dnsRefreshRate: 'The value is more than 1 ms.',
  proxyAdminPort:
    'Envoy listens on 127.0.0.1. Once Envoy has written its real admin address to a file, the agent uses that.',
  statusPort: 'The server listens on all interfaces. [HTTP](http.md) describes its answers.',
  proxyLogLevel:
    'The level is `trace`, `debug`, `info`, `warning`, `warn`, `error`, `critical` or `off`. Levels of components may follow: `warning,misc:error`. If the value is empty, Envoy uses its default.',
  proxyComponentLogLevel: 'If the value is empty, no component has its own level.',
  envoyMetricsServiceAddress: '`--envoyMetricsService` has more fields, and wins over it.',
  envoyMetricsService:
    'The form is `{"address": "host:port", "tlsSettings": {…}, "tcpKeepalive": {…}}`.',
  envoyAccessLogService: 'The form is that of `--envoyMetricsService`.',
  lightstepAddress:
    'It needs `--lightstepAccessToken`. Envoy no longer has a LightStep tracer. The agent configures OpenTelemetry instead, and warns.',
  datadogAgentAddress:
    'In an argument of a container, Kubernetes replaces `$(HOST_IP)` with the address of the machine. The agent does not replace it.',
  serviceregistry:
    'The value is `Kubernetes`, `Consul`, or any other name. It decides the defaults of `--id` and `--domain`.',
  id: 'The default is `$POD_NAME.$POD_NAMESPACE`. For `Consul` it is `<ip>.service.consul`, and for other platforms the IP address.',
  ip: 'The default is `INSTANCE_IP`, then the first address of the machine, then 127.0.0.1.',
  domain:
    'The default is `$POD_NAMESPACE.svc.cluster.local`. For `Consul` it is `service.consul`. For other platforms there is no default.',
  pilotIdentity:
    "The control plane's certificate may have this path instead of that of its service account.",
  mixerIdentity: 'Same as `--pilotIdentity`, for Mixer. Only templates use it.',
  tokenManagerPlugin: 'With any other name, the token server gets no tokens.',
  openTelemetryAddress:
    'If several tracers are given, the first of these is used: OpenTelemetry, LightStep, Zipkin, Datadog.',
  envoyRestartPolicy:
    '`backoff` starts Envoy again after a crash. `exit` ends the agent with the exit code of Envoy.',
  xdsProxy:
    'The agent has the only connection to the control plane. It stores the resources that Envoy ACKed, and serves them to an Envoy that starts while the ' +
    'control plane is unreachable. With `false`, Envoy connects to the control plane directly.',
  xdsStoreMaxAge:
    'If the configuration in `<configPath>/xds-store` is older, no Envoy receives it. Envoy then waits for the control plane. ' +
    'With `0`, the agent stores none, on disk or in memory.',
  rotation:
    '`hot-restart` starts a new Envoy for a changed certificate file, and `sds` pushes the certificate to the running one. The default is `sds` if Envoy uses the SDS socket of the agent, ' +
    'otherwise `hot-restart`.',
  config:
    'It is one of the [layers](layers.md). [The configuration file](../guide/configuration-file.md) describes it.',
  watch: 'All files in a folder count. Only changed content counts, not changed times.',
  configUrl:
    'It replaces `--customConfigFile`. The agent never logs user, password and query of the URL.',
  watchKube:
    'The kind is `Secret`, `ConfigMap`, or a custom resource with its group, as in `Gateway.networking.istio.io/default/front`. A Secret is ' +
    'pushed to Envoy over SDS. A change of another object restarts Envoy.',
  watchConsul:
    '`kv/PREFIX` is all keys below a prefix. `service/NAME` is the healthy instances of a service.',
  consulAddress: 'The value is an `http` or `https` URL, or `host:port`.',
  controlPlaneBootstrap:
    'The flag has no effect, and the agent warns. The agent fills in a template in the same way for both values.',
  applicationPorts: 'The flag has no effect, and the agent warns.',
  log_output_level:
    'The value is a level, or `scope:level,…`. Levels are `debug`, `info`, `warn`, `error`, `fatal` and `none`. The scopes `default` and `all` are the agent; other scopes are ignored.',
  log_target: 'The value is a file, `stdout` or `stderr`. The flag may be repeated.',
  log_stacktrace_level: 'Bugs and failed parts always have a stack trace.',
  log_rotate: 'To rotate a log file, move the file of `--log_target` away, then send SIGUSR1.',
  httpProxy:
    'The form is `http://HOST:PORT`, with name and password before the host if the proxy needs them. The agent never uses the proxy for this machine, the control plane, the authority, ' +
    'Kubernetes, Consul and probes. It reads no proxy from the environment.',
  noProxy:
    'The value is a list, separated by commas: hosts (with all names below them), addresses, ranges such as `10.0.0.0/8`, `host:port`, or `*`.',
};

type Row = readonly [FlagName | LogFlagName, Flag];

function row([name, { value, text, default: standard, example }]: Row): readonly string[] {
  const cells = [
    code(typedFlag(name, value, example)),
    code(value),
    standard === '' ? '–' : code(standard),
  ];
  return more[name] === undefined ? [...cells, sentence(text)] : shortRow(cells, text);
}

export function flagsPage(): string {
  const rows = Object.entries<Flag>({ ...flags, ...logFlags }) as readonly Row[];
  const groups = Object.entries(flagGroups).map(([group, title]) => {
    const ofGroup = rows.filter(([, flag]) => flag.group === group);
    const details = ofGroup.flatMap(([name]) =>
      more[name] === undefined ? [] : [`${code(`--${name}`)}: ${more[name]}`],
    );
    return section(
      title,
      table(['Flag', 'Value', 'Default', 'Meaning'], ofGroup.map(row)),
      ...(details.length === 0 ? [] : [list(details)]),
    );
  });
  return page(
    'Flags',
    paragraph(
      'These are the flags of `pilot-agent proxy`, each with an example of a value. `bootstrap`, `check` and `config print` take them too. ' +
        'All commands take the flags whose names begin with `log_`. [Commands](commands.md) has the flags of the other commands.',
    ),
    list([
      '`--statusPort 15020` and `--statusPort=15020` are the same.',
      'A duration has the form of Go: `45s`, `1m30s`, `1.5h`. The longest duration is 24.8 days; a longer one is shortened to that.',
      'A `bool` stands alone (`--lightstepSecure`), or has its value after `=`. The next word is never its value.',
      'An unknown flag is ignored with a warning, so that templates for other versions work. Without `=`, the next word is taken as its ' +
        'value, unless that word is `sidecar` or `router`.',
      'An unknown flag that is one edit away from exactly one known flag is a typo. It ends the agent with [exit code](exit-codes.md) 64. One ' +
        'edit is an extra, missing or wrong character, two swapped neighbours, or letters in the wrong case.',
      'A flag that may be repeated adds one value each time. [Variables](environment.md#sources-of-configuration) lists the variables that set flags.',
      'A bad value of a flag ends the agent with [exit code](exit-codes.md) 64. A bad log level is only a warning, and the default applies.',
    ]),
    ...groups,
  );
}
