import type { Flag } from '../../src/shared/text/flag.ts';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { code, list, page, paragraph, section, table } from './markdown.ts';

interface Variable {
  readonly name: string;
  /** As a user would write it; absent where there is none. */
  readonly standard?: string;
  readonly text: string;
  /** What has no room in the table. */
  readonly more?: string;
}

/** Each variable that the program reads, by what it is about. */
export const variables: Readonly<Record<string, readonly Variable[]>> = {
  'Certificates that are watched': [
    {
      name: 'ISTIO_META_TLS_SERVER_CERT_CHAIN',
      standard: '/etc/certs/cert-chain.pem',
      text: 'Chain of the server',
    },
    {
      name: 'ISTIO_META_TLS_SERVER_KEY',
      standard: '/etc/certs/key.pem',
      text: 'Key of the server',
    },
    {
      name: 'ISTIO_META_TLS_SERVER_ROOT_CERT',
      standard: '/etc/certs/root-cert.pem',
      text: 'Root of the server',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_CERT_CHAIN',
      standard: '/etc/certs/cert-chain.pem',
      text: 'Chain for calls of Envoy',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_KEY',
      standard: '/etc/certs/key.pem',
      text: 'Key for calls of Envoy',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_ROOT_CERT',
      standard: '/etc/certs/root-cert.pem',
      text: 'Root for calls of Envoy',
    },
  ],
  'Certificates and tokens': [
    {
      name: 'PILOT_CERT_PROVIDER',
      text: "Who has issued the control plane's certificate",
      more: '`istiod`, `kubernetes` or `custom`. It decides where the CA of the control plane is looked for. For the authority, `system` means the roots of the machine. If it is set, the default of `--discoveryAddress` is `istiod.istio-system.svc:15012`.',
    },
    {
      name: 'PROV_CERT',
      text: 'Folder with the certificates of a machine',
      more: 'The files are `cert-chain.pem`, `key.pem` and `root-cert.pem`. If `CA_ADDR` is set too, they are what the authority is shown.',
    },
    {
      name: 'FILE_MOUNTED_CERTS',
      standard: 'false',
      text: 'No authority is asked, even if a token is there',
    },
    {
      name: 'CA_ADDR',
      text: 'The certificate authority, `host:port`',
      more: 'Without it, and with a token: the control plane.',
    },
    {
      name: 'JWT_POLICY',
      standard: 'third-party-jwt',
      text: 'Which token is shown to the authority',
      more:
        '`third-party-jwt` is the file `./var/run/secrets/tokens/istio-token`. `first-party-jwt` is the token of Kubernetes, ' +
        '`/var/run/secrets/kubernetes.io/serviceaccount/token`. Any other value: no token.',
    },
    {
      name: 'TRUST_DOMAIN',
      text: 'Trust domain of the identity',
      more: 'Without it: `--trust-domain`, then `cluster.local`.',
    },
    {
      name: 'ISTIO_META_CLUSTER_ID',
      text: 'Name of the cluster',
      more: 'The agent sends it to the authority and to the control plane.',
    },
    { name: 'SECRET_TTL', standard: '24h', text: 'How long a certificate is asked to be valid' },
    {
      name: 'SECRET_GRACE_PERIOD_RATIO',
      standard: '0.5',
      text: 'When the next certificate is asked for',
      more: 'It is the share of the lifetime of the certificate that is left then.',
    },
    {
      name: 'INITIAL_BACKOFF_MSEC',
      standard: '0',
      text: 'The first request comes at random within this many ms',
    },
    {
      name: 'ECC_SIGNATURE_ALGORITHM',
      text: '`ECDSA`: keys on P-256. Without it: RSA of 2048 bits',
    },
    { name: 'PKCS8_KEY', standard: 'false', text: 'Keys are written as PKCS#8' },
    {
      name: 'OUTPUT_CERTS',
      text: 'Folder into which the certificates of the workload are written',
      more:
        'The files are `key.pem`, `cert-chain.pem` and `root-cert.pem`, mode 0600. They change all at once, by the swap of the link ' +
        '`..data`, as in a mounted secret.',
    },
    {
      name: 'GATEWAY_SECRETS',
      text: 'Folder with the secrets of a gateway, or `kubernetes://NAMESPACE`',
      more:
        'In the folder each secret is a folder with `tls.crt`, `tls.key` and `ca.crt`, or with `cert`, `key` and `cacert`. ' +
        '`kubernetes://` alone is the namespace of the pod. See [Kubernetes](../sources/kubernetes.md#secrets-of-a-gateway).',
    },
    {
      name: 'KUBERNETES_SERVICE_HOST',
      text: 'Where the Kubernetes API is: Kubernetes sets it in each pod',
    },
    { name: 'KUBERNETES_SERVICE_PORT', text: 'Its port. Without it: 443' },
    { name: 'GKE_CLUSTER_URL', text: 'The cluster for which the token server gets tokens' },
  ],
  'Mesh and configuration': [
    { name: 'PROXY_CONFIG', text: 'A ProxyConfig in YAML or JSON: one of the [layers](layers.md)' },
    {
      name: 'ISTIO_BOOTSTRAP',
      text: "A template of Envoy's configuration",
      more: 'It wins over `--templateFile`.',
    },
    {
      name: 'ISTIO_BOOTSTRAP_OVERRIDE',
      text: 'A file that is laid over the configuration of Envoy',
    },
    {
      name: 'ISTIO_DELTA_XDS',
      standard: 'false',
      text: 'Envoy asks the control plane for what has changed alone (delta xDS)',
    },
    { name: 'ISTIO_NAMESPACE', standard: 'istio-system', text: 'Namespace of the control plane' },
    {
      name: 'STACKDRIVER_TRACING_ENABLED',
      standard: 'false',
      text: "Traces go to Google's Cloud Trace",
      more: 'Only if no layer names another tracer.',
    },
    { name: 'STACKDRIVER_TRACING_DEBUG', standard: 'false', text: 'These traces go to stdout too' },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES',
      standard: '200',
      text: 'Most attributes of a span',
    },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_ANNOTATIONS',
      standard: '200',
      text: 'Most annotations of a span',
    },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_MESSAGE_EVENTS',
      standard: '200',
      text: 'Most message events of a span',
    },
  ],
  'Status and lifecycle': [
    {
      name: 'TERMINATION_DRAIN_DURATION_SECONDS',
      standard: '5',
      text: 'Longest drain at the end, in whole seconds',
      more: 'Without it: `terminationDrainDuration` of the [layers](layers.md).',
    },
    {
      name: 'MINIMUM_DRAIN_DURATION',
      standard: '5s',
      text: 'Shortest drain at the end, a duration',
      more: 'At most the longest drain.',
    },
    {
      name: 'ISTIO_KUBE_APP_PROBERS',
      text: '[Probes of the application](http.md#probes-of-the-application), JSON',
    },
    {
      name: 'REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION',
      text: 'Where a probe goes',
      more: 'That is one that names no host, or `localhost`. `true`: to localhost alone. `false`: to `INSTANCE_IP` and then to localhost. If it is not given: to localhost and then to `INSTANCE_IP`.',
    },
    {
      name: 'ISTIO_PROMETHEUS_ANNOTATIONS',
      text: '[Metrics](metrics.md) of the application, JSON',
      more: 'It has no effect for a router.',
    },
    {
      name: 'PILOT_AGENT_METRICS_TARGETS',
      text: '[Metrics](metrics.md) of more applications, JSON',
    },
    {
      name: 'ENVOY_PROMETHEUS_PORT',
      standard: '15090',
      text: "Port of Envoy's listener for Prometheus",
    },
    {
      name: 'ENVOY_STATUS_PORT',
      standard: '15021',
      text: "Port of Envoy's listener for the readiness probe",
    },
    {
      name: 'ENVOY_READINESS_CHECK_TIMEOUT',
      standard: '1s',
      text: 'How long Envoy may take to say that it is ready',
    },
  ],
  'Sources of configuration': Object.entries<Flag>(flags).flatMap(
    ([flag, { variable, default: standard, repeated }]) =>
      variable === undefined
        ? []
        : [
            {
              name: variable,
              ...(standard !== '' && { standard }),
              text: `${code(`--${flag}`)}${repeated === true ? ', with commas between its values' : ''}`,
            },
          ],
  ),
  'Pod and cloud': [
    { name: 'POD_NAME', text: 'For `--id`' },
    { name: 'POD_NAMESPACE', text: 'For `--id` and `--domain`' },
    { name: 'INSTANCE_IP', text: 'For `--ip`. Ignored if it is no address' },
    {
      name: 'ISTIO_CPU_LIMIT',
      text: 'Limit of the CPU, in whole cores',
      more: 'Without it: the quota of the control group, if that is less than the machine has. See [`--concurrency`](flags.md#envoy).',
    },
    { name: 'SERVICE_ACCOUNT', text: '`SERVICE_ACCOUNT` in the metadata of the node' },
    {
      name: 'ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS',
      text: 'Keys that are added to `EXCHANGE_KEYS` of the metadata',
      more: 'They are separated by commas.',
    },
    {
      name: 'GCP_METADATA',
      text: 'What is known of a machine at Google',
      more: `The form is ${code('PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE')}.`.replaceAll(
        '\\|',
        '|',
      ),
    },
    { name: 'GCE_METADATA_HOST', text: "Where Google's metadata server is" },
  ],
  Program: [
    { name: 'ENVOY_BIN', text: 'An Envoy to run: see [`--binaryPath`](flags.md#envoy)' },
    {
      name: 'PATH',
      text: 'Where programs are looked for',
      more: 'The agent looks for `envoy`, `setpriv`, `mkfifo` and `sh`, and `envoy install` for `python3`.',
    },
    {
      name: 'PILOT_AGENT_CACHE',
      text: 'The cache for Envoy, an absolute path',
      more: 'Without it: `pilot-agent/envoy` in `XDG_CACHE_HOME`, and without that `.cache/pilot-agent/envoy` in `HOME`.',
    },
    { name: 'XDG_CACHE_HOME', text: "The user's cache, an absolute path" },
    {
      name: 'HOME',
      text: "The user's home",
      more: 'Without it: what the system says, then `/var`.',
    },
    {
      name: 'FORCE_COLOR',
      text: 'If it is set, also to a pipe what is written has colours',
      more: '`0` or `false`: never. Else it wins over the next three. The log on a pipe is JSON, which has none.',
    },
    { name: 'NO_COLOR', text: 'If it is set and not empty, a terminal gets no colours' },
    { name: 'NODE_DISABLE_COLORS', text: 'The same, as programs of Node know it' },
    { name: 'TERM', text: '`dumb`: the terminal gets no colours' },
    {
      name: 'PILOT_AGENT_CODE_CACHE',
      text: 'For the build',
      more: '`write` writes the code caches at the end of a run, `check` names on the error stream each part whose cache is not used.',
    },
  ],
};

export function environmentPage(): string {
  const sections = Object.entries(variables).map(([title, group]) => {
    const told = group.flatMap(({ name, more }) =>
      more === undefined ? [] : [`${code(name)}: ${more}`],
    );
    return section(
      title,
      table(
        ['Variable', 'Default', 'Meaning'],
        group.map(({ name, standard, text }) => [
          code(name),
          standard === undefined ? '–' : code(standard),
          text,
        ]),
      ),
      ...(told.length === 0 ? [] : [list(told)]),
    );
  });
  return page(
    'Environment variables',
    paragraph(
      'A bad value of a variable is a warning, and the default counts. These are exceptions: metadata that cannot be parsed, probes and ' +
        'metrics targets that cannot be used, a bad value of a variable that stands for a flag, a `CA_ADDR` that is no address, and an unknown `PILOT_CERT_PROVIDER` if there is an ' +
        'authority. They end the agent with [exit code](exit-codes.md) 78.',
    ),
    paragraph(
      'An unknown variable that is one edit away from one of these, which is not set, is a warning. Variables of services and of the ' +
        'metadata never are.',
    ),
    paragraph(
      'A flag or a [layer](layers.md) may set the same value. `pilot-agent config print` shows which one counts.',
    ),
    ...sections,
    section(
      'Metadata of the node',
      paragraph(
        'Each variable that begins with `ISTIO_META_` or `ISTIO_METAJSON_` becomes a part of the metadata of the node. The value of ' +
          '`ISTIO_METAJSON_…` is JSON. The files `./etc/istio/pod/labels` and `./etc/istio/pod/annotations` are a part of it too.',
      ),
    ),
  );
}
