import type { Flag } from '../../src/shared/text/flag.ts';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import {
  block,
  code,
  fits,
  list,
  page,
  paragraph,
  section,
  table,
  typedVariable,
} from './markdown.ts';

interface Variable {
  readonly name: string;
  readonly example: string;
  /** The default as a user would write it; absent if there is none. */
  readonly standard?: string;
  readonly text: string;
  /** Details that have no room in the table. */
  readonly more?: string;
}

/** Each variable that the program reads, by subject. */
export const variables: Readonly<Record<string, readonly Variable[]>> = {
  'Certificates that are watched': [
    {
      name: 'ISTIO_META_TLS_SERVER_CERT_CHAIN',
      example: '/etc/tls/cert.pem',
      standard: '/etc/certs/cert-chain.pem',
      text: 'Certificate chain of the server',
    },
    {
      name: 'ISTIO_META_TLS_SERVER_KEY',
      example: '/etc/tls/key.pem',
      standard: '/etc/certs/key.pem',
      text: 'Key of the server',
    },
    {
      name: 'ISTIO_META_TLS_SERVER_ROOT_CERT',
      example: '/etc/tls/ca.pem',
      standard: '/etc/certs/root-cert.pem',
      text: 'Root certificate of the server',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_CERT_CHAIN',
      example: '/etc/tls/cert.pem',
      standard: '/etc/certs/cert-chain.pem',
      text: 'Certificate chain of the client',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_KEY',
      example: '/etc/tls/key.pem',
      standard: '/etc/certs/key.pem',
      text: 'Key of the client',
    },
    {
      name: 'ISTIO_META_TLS_CLIENT_ROOT_CERT',
      example: '/etc/tls/ca.pem',
      standard: '/etc/certs/root-cert.pem',
      text: 'Root certificate of the client',
    },
  ],
  'Certificates and tokens': [
    {
      name: 'PILOT_CERT_PROVIDER',
      example: 'istiod',
      text: "Issuer of the control plane's certificate",
      more: 'The value is `istiod`, `kubernetes`, `custom` or `system`. It decides by which roots the agent verifies the control plane and the authority. With `system`, the roots of Node verify the authority. If the variable is set, the default of `--discoveryAddress` is `istiod.istio-system.svc:15012`.',
    },
    {
      name: 'PROV_CERT',
      example: '/etc/certs',
      text: 'Folder with the certificates of a machine',
      more: 'The files are `cert-chain.pem`, `key.pem` and `root-cert.pem`. If `CA_ADDR` is set too, the agent shows them to the authority.',
    },
    {
      name: 'FILE_MOUNTED_CERTS',
      example: 'true',
      standard: 'false',
      text: 'Whether certificates are mounted files; then the agent uses no authority',
    },
    {
      name: 'CA_ADDR',
      example: 'istiod.istio-system.svc:15012',
      text: 'The certificate authority, `host:port`',
      more: 'The default is the control plane, if the agent has a token.',
    },
    {
      name: 'JWT_POLICY',
      example: 'first-party-jwt',
      standard: 'third-party-jwt',
      text: 'Token for the authority',
      more:
        '`third-party-jwt` is the file `./var/run/secrets/tokens/istio-token`. `first-party-jwt` is the token of Kubernetes, ' +
        '`/var/run/secrets/kubernetes.io/serviceaccount/token`. With any other value, the agent has no token.',
    },
    {
      name: 'TRUST_DOMAIN',
      example: 'mesh.example',
      text: 'Trust domain of the identity',
      more: 'The default is `--trust-domain`, then `cluster.local`.',
    },
    {
      name: 'ISTIO_META_CLUSTER_ID',
      example: 'east',
      text: 'Name of the cluster',
      more: 'The agent sends it to the authority and to the control plane.',
    },
    {
      name: 'SECRET_TTL',
      example: '12h',
      standard: '24h',
      text: 'Lifetime of certificates that the agent requests',
    },
    {
      name: 'SECRET_GRACE_PERIOD_RATIO',
      example: '0.3',
      standard: '0.5',
      text: 'Share of the lifetime that is left when the agent renews a certificate',
    },
    {
      name: 'INITIAL_BACKOFF_MSEC',
      example: '2000',
      standard: '0',
      text: 'Longest random delay of the first request for a certificate, in ms',
    },
    {
      name: 'ECC_SIGNATURE_ALGORITHM',
      example: 'ECDSA',
      text: '`ECDSA`: keys on P-256; otherwise RSA with 2,048 bits',
    },
    {
      name: 'PKCS8_KEY',
      example: 'true',
      standard: 'false',
      text: 'Whether keys have the form PKCS#8',
    },
    {
      name: 'OUTPUT_CERTS',
      example: '/run/certs',
      text: 'Folder for copies of the certificates of the workload',
      more:
        'The files are `key.pem`, `cert-chain.pem` and `root-cert.pem`, mode 0600. The agent replaces all of them at once, by swapping the link ' +
        '`..data`, as in a mounted secret.',
    },
    {
      name: 'WORKLOAD_IDENTITY_SOCKET_FILE',
      example: 'agent.sock',
      standard: 'socket',
      text: 'Name of the workload socket in `./var/run/secrets/workload-spiffe-uds`',
      more:
        'A socket `socket` is used if it is there when the agent starts. A socket of another name is used in any case: the agent waits for it. ' +
        'See [By SPIRE](../guide/certificates.md#by-spire).',
    },
    {
      name: 'PILOT_ENABLE_CA_CRL',
      example: 'false',
      standard: 'true',
      text: 'Whether Envoy gets the CRLs in `./var/run/secrets/istio/crl/ca-crl.pem`',
      more: 'See [Revocation](../guide/certificates.md#revocation).',
    },
    {
      name: 'GATEWAY_SECRETS',
      example: 'kubernetes://shop',
      text: 'Folder with the secrets of a gateway, or `kubernetes://NAMESPACE`',
      more:
        'In the folder each secret is a folder with `tls.crt`, `tls.key` and `ca.crt`, or with `cert`, `key` and `cacert`. ' +
        '`kubernetes://` without a name is the namespace of the pod. See [Kubernetes](../sources/kubernetes.md#secrets-of-a-gateway).',
    },
    {
      name: 'KUBERNETES_SERVICE_HOST',
      example: '10.96.0.1',
      text: 'Address of the Kubernetes API; Kubernetes sets it in each pod',
    },
    {
      name: 'KUBERNETES_SERVICE_PORT',
      example: '6443',
      text: 'Port of the Kubernetes API; 443 if not given',
    },
    {
      name: 'GKE_CLUSTER_URL',
      example: 'https://container.googleapis.com/v1/projects/p/locations/l/clusters/c',
      text: 'Cluster for which the token server gets tokens',
    },
  ],
  'Mesh and configuration': [
    {
      name: 'PROXY_CONFIG',
      example: '{"drainDuration":"30s"}',
      text: 'A ProxyConfig in YAML or JSON: one of the [layers](layers.md)',
    },
    {
      name: 'ISTIO_BOOTSTRAP',
      example: '/etc/bootstrap.json',
      text: "A template of Envoy's configuration",
      more: 'It wins over `--templateFile`.',
    },
    {
      name: 'ISTIO_BOOTSTRAP_OVERRIDE',
      example: '/etc/override.json',
      text: 'A file that is merged into the configuration of Envoy',
    },
    {
      name: 'ISTIO_DELTA_XDS',
      example: 'true',
      standard: 'false',
      text: 'Whether Envoy uses delta xDS',
    },
    {
      name: 'ISTIO_NAMESPACE',
      example: 'mesh',
      standard: 'istio-system',
      text: 'Namespace of the control plane',
    },
    {
      name: 'STACKDRIVER_TRACING_ENABLED',
      example: 'true',
      standard: 'false',
      text: "Whether traces go to Google's Cloud Trace",
      more:
        'It has no effect if a layer names another tracer. The generated bootstrap sends these traces by OpenTelemetry. ' +
        'The next four variables have an effect only in a template.',
    },
    {
      name: 'STACKDRIVER_TRACING_DEBUG',
      example: 'true',
      standard: 'false',
      text: 'Whether these traces go to stdout too',
    },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES',
      example: '32',
      standard: '200',
      text: 'Largest number of attributes of a span',
    },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_ANNOTATIONS',
      example: '32',
      standard: '200',
      text: 'Largest number of annotations of a span',
    },
    {
      name: 'STACKDRIVER_TRACING_MAX_NUMBER_OF_MESSAGE_EVENTS',
      example: '32',
      standard: '200',
      text: 'Largest number of message events of a span',
    },
  ],
  'Status and lifecycle': [
    {
      name: 'TERMINATION_DRAIN_DURATION_SECONDS',
      example: '30',
      text: 'Longest drain at the end, in whole seconds',
      more: 'Without the variable, `terminationDrainDuration` of the [layers](layers.md) applies. Its default is 5 s.',
    },
    {
      name: 'MINIMUM_DRAIN_DURATION',
      example: '2s',
      standard: '5s',
      text: 'Shortest drain at the end, a duration',
      more: 'If it is longer than the longest drain, the longest drain applies.',
    },
    {
      name: 'ISTIO_KUBE_APP_PROBERS',
      example: '{"/app-health/app/readyz":{"httpGet":{"port":8080}}}',
      text: '[Probes of the application](http.md#probes-of-the-application), JSON',
    },
    {
      name: 'REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION',
      example: 'true',
      text: 'Target of a probe that names no host, or `localhost`',
      more: 'With `true`, the agent tries only localhost; with `false`, `INSTANCE_IP`, then localhost. Without the variable, it tries localhost, then `INSTANCE_IP`.',
    },
    {
      name: 'ISTIO_PROMETHEUS_ANNOTATIONS',
      example: '{"scrape":"true","port":"8080","path":"/metrics"}',
      text: '[Metrics](metrics.md) of the application, JSON',
      more: 'It has no effect for a router.',
    },
    {
      name: 'PILOT_AGENT_METRICS_TARGETS',
      example: '[{"port":"9090"}]',
      text: '[Metrics](metrics.md) of more applications, JSON',
    },
    {
      name: 'ENVOY_PROMETHEUS_PORT',
      example: '15091',
      standard: '15090',
      text: "Port of Envoy's listener for Prometheus",
    },
    {
      name: 'ENVOY_STATUS_PORT',
      example: '15022',
      standard: '15021',
      text: "Port of Envoy's listener for the readiness probe",
    },
    {
      name: 'ENVOY_READINESS_CHECK_TIMEOUT',
      example: '3s',
      standard: '1s',
      text: 'Longest time for the answer of Envoy to a readiness check',
    },
  ],
  'Sources of configuration': Object.entries<Flag>(flags).flatMap(
    ([flag, { variable, example, default: standard, repeated }]) =>
      variable === undefined
        ? []
        : [
            {
              name: variable,
              example,
              ...(standard !== '' && { standard }),
              text: `${code(`--${flag}`)}${repeated === true ? ', values separated by commas' : ''}`,
            },
          ],
  ),
  'Pod and cloud': [
    { name: 'POD_NAME', example: 'reviews-0', text: 'Part of the default of `--id`' },
    {
      name: 'POD_NAMESPACE',
      example: 'shop',
      text: 'Part of the defaults of `--id` and `--domain`',
    },
    {
      name: 'INSTANCE_IP',
      example: '10.0.0.7',
      text: 'Default of `--ip`; ignored if it is not an IP address',
    },
    {
      name: 'ISTIO_CPU_LIMIT',
      example: '2',
      text: 'CPU limit in whole cores',
      more: 'The default is the quota of the control group, if that is less than the cores of the machine. See [`--concurrency`](flags.md#envoy).',
    },
    {
      name: 'SERVICE_ACCOUNT',
      example: 'reviews',
      text: '`SERVICE_ACCOUNT` in the metadata of the node',
    },
    {
      name: 'ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS',
      example: 'team,stage',
      text: 'Further keys for `EXCHANGE_KEYS` in the metadata',
      more: 'The keys are separated by commas.',
    },
    {
      name: 'GCP_METADATA',
      example: 'shop|123|east|europe-west1-b',
      text: 'Properties of a machine at Google',
      more: `The form is ${code('PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE')}.`.replaceAll(
        '\\|',
        '|',
      ),
    },
    {
      name: 'GCE_METADATA_HOST',
      example: 'metadata.example:8080',
      text: "Address of Google's metadata server",
    },
  ],
  Program: [
    {
      name: 'ENVOY_BIN',
      example: '/opt/envoy',
      text: 'An Envoy to run; see [`--binaryPath`](flags.md#envoy)',
    },
    {
      name: 'PATH',
      example: '/opt/envoy/bin:/usr/bin:/bin',
      text: 'Folders of programs',
      more: 'The agent looks there for `envoy` and for small programs: `setpriv`, `mkfifo`, `sh`, `grep`, `rm`, `rmdir` and, with `--keepEnvoy`, `setsid` and `ln`. `envoy install` looks there for `python3`.',
    },
    {
      name: 'PILOT_AGENT_CACHE',
      example: '/var/cache/envoy',
      text: 'The cache for Envoy, an absolute path',
      more: 'The default is `pilot-agent/envoy` in `XDG_CACHE_HOME`, or `.cache/pilot-agent/envoy` in `HOME`.',
    },
    {
      name: 'XDG_CACHE_HOME',
      example: '/var/cache/agent',
      text: 'Cache folder of the user, an absolute path',
    },
    {
      name: 'HOME',
      example: '/var/lib/agent',
      text: 'Home folder of the user',
      more: 'The default is the home folder in the user database, then `/var`.',
    },
    {
      name: 'FORCE_COLOR',
      example: '1',
      text: 'Whether output has colours, even on a pipe',
      more: 'With `0` or `false` there are no colours. Any other value wins over the next three variables. The log on a pipe is JSON and has no colours.',
    },
    { name: 'NO_COLOR', example: '1', text: 'If it is not empty, a terminal gets no colours' },
    { name: 'NODE_DISABLE_COLORS', example: '1', text: 'Same as `NO_COLOR`, for programs of Node' },
    { name: 'TERM', example: 'dumb', text: '`dumb`: the terminal gets no colours' },
    {
      name: 'PILOT_AGENT_CODE_CACHE',
      example: 'check',
      text: 'Only for the build of this package',
      more: '`write` writes the code caches at the end of a run. `check` prints each part whose cache is not used, on stderr.',
    },
  ],
};

/** The cells of a variable. An example that makes the row too wide goes below the table. */
function row({ name, example, standard, text }: Variable): readonly string[] {
  const rest = [standard === undefined ? '–' : code(standard), text];
  const cells = [code(typedVariable(name, example)), ...rest];
  return fits(cells) ? cells : [code(name), ...rest];
}

function details(variable: Variable): readonly string[] {
  const { name, example, more } = variable;
  const isShown = row(variable)[0] !== code(name);
  const shown = isShown ? [] : [`For example, ${code(typedVariable(name, example))}.`];
  const sentences = [...(more === undefined ? [] : [more]), ...shown];
  return sentences.length === 0 ? [] : [`${code(name)}: ${sentences.join(' ')}`];
}

export function environmentPage(): string {
  const sections = Object.entries(variables).map(([title, group]) => {
    const items = group.flatMap(details);
    return section(
      title,
      table(['Variable', 'Default', 'Meaning'], group.map(row)),
      ...(items.length === 0 ? [] : [list(items)]),
    );
  });
  return page(
    'Environment variables',
    paragraph(
      'Each variable has an example of a value. A bad value of a variable is a warning, and the default applies. These bad values end the agent with [exit code](exit-codes.md) 78:',
    ),
    list([
      'an `ISTIO_METAJSON_LABELS` that is not a JSON object',
      'a `PROXY_CONFIG` with a mistake in a field that the proxy needs',
      'a bad value of a variable that sets a flag',
      'a `CA_ADDR` that is not an address',
      'an unknown `PILOT_CERT_PROVIDER`, if there is an authority',
    ]),
    paragraph(
      'The agent warns of an unknown variable if its name is one edit away from one of these variables that is not set. It does not warn of variables of the [metadata](#metadata-of-the-node), or of a URL in a variable whose name ends with `_PORT`: Kubernetes sets one for each service.',
    ),
    paragraph(
      'A flag or a [layer](layers.md) may set the same value. `pilot-agent config print` shows which one wins.',
    ),
    ...sections,
    section(
      'Metadata of the node',
      paragraph(
        'Each variable that begins with `ISTIO_META_` or `ISTIO_METAJSON_` becomes a part of the metadata of the node. The value of ' +
          '`ISTIO_METAJSON_…` is JSON, such as `{"app":"reviews"}`. The files `./etc/istio/pod/labels` and `./etc/istio/pod/annotations` are a part of the metadata too.',
      ),
      block('sh', 'ISTIO_META_OWNER=team-a'),
    ),
  );
}
