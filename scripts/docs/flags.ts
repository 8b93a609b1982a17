import { type Flag, flagGroups } from '../../src/shared/text/flag.ts';
import { type FlagName, flags } from '../../src/pilot-agent/config/flags.ts';
import { logFlags, type LogFlagName } from '../../src/shared/log/log-flags.ts';
import { code, list, page, paragraph, section, sentence, shortRow, table } from './markdown.ts';

/** What there is to say of a flag that has no room on the help page. */
const more: Readonly<Partial<Record<FlagName | LogFlagName, string>>> = {
  binaryPath:
    'This Envoy is run, and no other. A name without `/` is looked up in `PATH`. Without the flag, the first of these that exists ' +
    'is run: `/usr/local/bin/envoy`, the file that `ENVOY_BIN` names, `envoy` in `PATH`, the cache.',
  configPath:
    'The agent makes the folder if it is not there. [Files](files.md) says what is in it.',
  customConfigFile:
    'The file is `.json`, `.yaml` or any other format that Envoy reads. The agent generates nothing then.',
  templateFile: 'It is used if there is no `--customConfigFile`. `ISTIO_BOOTSTRAP` wins over it.',
  meshConfig:
    'A MeshConfig in YAML or JSON. Only its `defaultConfig` counts: it is one of the [layers](layers.md). The file need not exist.',
  drainDuration:
    "It is Envoy's `--drain-time-s`, in whole seconds. A part of a second is left out.",
  parentShutdownDuration:
    "It is Envoy's `--parent-shutdown-time-s`, in whole seconds. A part of a second counts as one. It must be longer than `--drainDuration`.",
  discoveryAddress:
    'If `PILOT_CERT_PROVIDER` is set, as injectors do, the default is `istiod.istio-system.svc:15012`, as in the Go agents from 1.6 on.',
  controlPlaneAuthPolicy:
    '`NONE` is plaintext. `MUTUAL_TLS` is TLS with a client certificate. On port 15012 it is `MUTUAL_TLS`, unless `FILE_MOUNTED_CERTS` is set.',
  connectTimeout: 'From 1 ms to 30 s.',
  dnsRefreshRate: 'More than 1 ms.',
  proxyAdminPort: 'It is on 127.0.0.1. It counts until Envoy has written down its real address.',
  statusPort: 'The server listens on all interfaces. [HTTP](http.md) says what it answers.',
  proxyLogLevel:
    '`trace`, `debug`, `info`, `warning`, `warn`, `error`, `critical` or `off`; levels of components may follow: `warning,misc:error`. Empty: the default of Envoy itself.',
  proxyComponentLogLevel: 'Empty: no component has a level of its own.',
  envoyMetricsServiceAddress: '`--envoyMetricsService` says more, and wins.',
  envoyMetricsService:
    'The form is `{"address": "host:port", "tlsSettings": {…}, "tcpKeepalive": {…}}`.',
  envoyAccessLogService: 'The form is that of `--envoyMetricsService`.',
  lightstepAddress:
    '`--lightstepAccessToken` goes with it. Envoy no longer has a LightStep tracer: the traces are sent by OpenTelemetry, with a warning.',
  datadogAgentAddress: '`$(HOST_IP)` may be a part of it.',
  serviceregistry:
    'It decides on the defaults of `--id` and `--domain`: `Kubernetes`, `Consul`, or any other name.',
  id: 'Without it: `$POD_NAME.$POD_NAMESPACE`; for `Consul` `<ip>.service.consul`; for other platforms the address.',
  ip: 'Without it: `INSTANCE_IP`, then the first address of the machine, then 127.0.0.1.',
  domain:
    'Without it: `$POD_NAMESPACE.svc.cluster.local`; for `Consul` `service.consul`; for other platforms none.',
  pilotIdentity:
    "The control plane's certificate may have this path instead of that of its service account.",
  mixerIdentity: 'The same for Mixer. A template may ask for it.',
  tokenManagerPlugin: 'With any other name the token server gets no tokens.',
  openTelemetryAddress:
    'If several tracers are given, it comes first, then LightStep, Zipkin and Datadog.',
  envoyRestartPolicy:
    '`backoff` starts Envoy again after a crash. `exit` ends the agent with the exit code of Envoy.',
  xdsProxy:
    'The agent has the one connection to the control plane, keeps what Envoy has accepted, and gives that to an Envoy that starts while the ' +
    'control plane is away. With `false` Envoy connects to the control plane itself.',
  xdsStoreMaxAge:
    'Older than that, the configuration in `<configPath>/xds-store` is not given to any Envoy. It waits for the control plane.',
  rotation:
    'The way that a changed certificate file takes: `hot-restart` or `sds`. Without it: `sds` if Envoy asks the socket of the agent, ' +
    'otherwise `hot-restart`.',
  config:
    'It is one of the [layers](layers.md). [The configuration file](../guide/configuration-file.md) has the page of it.',
  watch: 'Of a folder all files count. The contents count, not the times.',
  configUrl:
    'It takes the place of `--customConfigFile`. User, password and query are never shown.',
  watchKube:
    'The kind is `Secret`, `ConfigMap`, or a custom resource with its group, as in `Gateway.networking.istio.io/default/front`. A Secret is ' +
    'pushed to Envoy over SDS. A change of another object restarts Envoy.',
  watchConsul:
    '`kv/PREFIX` is all keys below a prefix. `service/NAME` is the healthy instances of a service.',
  consulAddress: 'An `http` or `https` URL, or `host:port`.',
  controlPlaneBootstrap:
    'It has no effect, and the agent warns of it: a template is always taken as a template.',
  applicationPorts: 'It has no effect, and the agent warns of it.',
  log_output_level:
    '`debug`, `info`, `warn`, `error`, `fatal` or `none`; or `scope:level,…`. The scopes `default` and `all` are the agent; other scopes are ignored.',
  log_target: 'A file, `stdout` or `stderr`. The flag may be repeated.',
  log_stacktrace_level: 'A bug and a failed part always have a stack trace.',
  log_rotate: 'To rotate a log file, move the file of `--log_target` away, then send SIGUSR1.',
  httpProxy:
    '`http://HOST:PORT`, with name and password before the host if the proxy asks for them. This machine, the control plane, the authority, ' +
    'Kubernetes, Consul and probes are never asked through it, and no variable of the environment names a proxy.',
  noProxy:
    'Hosts with all names below them, addresses, ranges such as `10.0.0.0/8`, `host:port`, `*`, with commas between.',
};

type Row = readonly [FlagName | LogFlagName, Flag];

function row([name, { value, text, default: standard }]: Row): readonly string[] {
  const cells = [code(`--${name}`), code(value), standard === '' ? '–' : code(standard)];
  return more[name] === undefined ? [...cells, sentence(text)] : shortRow(cells, text);
}

export function flagsPage(): string {
  const rows = Object.entries<Flag>({ ...flags, ...logFlags }) as readonly Row[];
  const groups = Object.entries(flagGroups).map(([group, title]) => {
    const own = rows.filter(([, flag]) => flag.group === group);
    const told = own.flatMap(([name]) =>
      more[name] === undefined ? [] : [`${code(`--${name}`)}: ${more[name]}`],
    );
    return section(
      title,
      table(['Flag', 'Value', 'Default', 'Meaning'], own.map(row)),
      ...(told.length === 0 ? [] : [list(told)]),
    );
  });
  return page(
    'Flags',
    paragraph(
      'These are the flags of `pilot-agent proxy`. `bootstrap` and `config print` take them too. All commands take the flags whose ' +
        'names begin with `log_`. [Commands](commands.md) has the flags of the other commands.',
    ),
    list([
      '`--statusPort 15020` and `--statusPort=15020` are the same.',
      'A duration is written as in Go: `45s`, `1m30s`, `1.5h`. One above 24.8 days counts as 24.8 days.',
      'A `bool` stands alone (`--lightstepSecure`) or has its value after `=`. The next word is never taken as its value.',
      'An unknown flag is ignored with a warning, so that templates for other versions work. Without `=` it takes the next word as its ' +
        'value, unless that word is `sidecar` or `router`.',
      'An unknown flag that is one edit away from one known flag is a typo, and ends the agent with [exit code](exit-codes.md) 64. One ' +
        'edit is a character too many, too few or wrong, two neighbours exchanged, or letters in the wrong case.',
      'A flag that may be repeated counts each time. [Variables](environment.md#sources-of-configuration) has those that stand for a flag.',
      'A bad value of a flag ends the agent with [exit code](exit-codes.md) 64.',
    ]),
    ...groups,
  );
}
