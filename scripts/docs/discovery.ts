import { initialCa } from '../../src/pilot-discovery/ca/ca-view.ts';
import { findingKinds } from '../../src/pilot-discovery/analyze/finding.ts';
import {
  connectedAnswers,
  debugAnswers,
  proxyAnswers,
} from '../../src/pilot-discovery/debug/debug-answers.ts';
import { shownAtMost } from '../../src/pilot-discovery/diff/bounded-diff.ts';
import { discoveryFamilies } from '../../src/pilot-discovery/debug/discovery-families.ts';
import { usuallyBlocked } from '../../src/pilot-discovery/registry/keys/blocked-ranges.ts';
import { type ClientLimit, clientLimits } from '../../src/pilot-discovery/push/client-limits.ts';
import { initialView } from '../../src/pilot-discovery/state/fold-view.ts';
import {
  type DiscoveryFlagName,
  discoveryFlags,
} from '../../src/pilot-discovery/run/discovery-flags.ts';
import { tokenDefaults } from '../../src/pilot-discovery/run/token-config.ts';
import { caDefaults } from '../../src/pilot-discovery/run/ca-config.ts';
import { program as discoveryProgram } from '../../src/pilot-discovery/cli/program.ts';
import { usage } from './commands.ts';
import {
  block,
  code,
  list,
  page,
  paragraph,
  section,
  sentence,
  shellWord,
  table,
  typedVariable,
} from './markdown.ts';

interface DiscoveryVariable {
  readonly name: string;
  readonly example: string;
  /** The default value; '' if there is none. */
  readonly standard: string;
  readonly text: string;
}

/** The variables that `pilot-discovery discovery` reads, with their defaults. */
export const discoveryVariables: readonly DiscoveryVariable[] = [
  {
    name: 'PILOT_DEBOUNCE_AFTER',
    example: '200ms',
    standard: '100ms',
    text: 'A snapshot is built after this time without a change',
  },
  {
    name: 'PILOT_DEBOUNCE_MAX',
    example: '5s',
    standard: '10s',
    text: 'Longest time from a change to the snapshot with it',
  },
  {
    name: 'PILOT_ENABLE_EDS_DEBOUNCE',
    example: 'false',
    standard: 'true',
    text: 'Changes of endpoints wait too: 20 ms, at most 1 s',
  },
  {
    name: 'PILOT_DEBOUNCE',
    example: 'adaptive',
    standard: '',
    text: '`adaptive`: the first change after a pause waits only 10 ms',
  },
  {
    name: 'ISTIO_GPRC_MAXRECVMSGSIZE',
    example: '8388608',
    standard: '4194304',
    text: 'Same as `--largestRequest`, which wins',
  },
  {
    name: 'PILOT_PUSH_THROTTLE',
    example: '100',
    standard: '0',
    text: 'Number of proxies that are written to at once; 0: 8 for each CPU',
  },
  {
    name: 'PILOT_FILTER_GATEWAY_CLUSTER_CONFIG',
    example: 'false',
    standard: 'true',
    text: 'Gateways receive only the clusters of their routes',
  },
  {
    name: 'PILOT_ENABLE_XDS_IDENTITY_CHECK',
    example: 'false',
    standard: 'true',
    text: 'A node on the secure port must belong to its caller',
  },
  {
    name: 'BLOCKED_CIDRS_IN_JWKS_URIS',
    example: '10.0.0.0/8,fd00::/8',
    standard: '',
    text: 'Ranges to which no `jwksUri` may lead; `none`: no range',
  },
  {
    name: 'PILOT_ENABLE_ANALYSIS',
    example: 'true',
    standard: 'false',
    text: "One instance writes findings into the status of Istio's resources",
  },
  {
    name: 'PILOT_ANALYSIS_INTERVAL',
    example: '30s',
    standard: '10s',
    text: 'Time from one such analysis to the next; 1 s or more',
  },
  {
    name: 'ENABLE_CA_SERVER',
    example: 'false',
    standard: caDefaults.ENABLE_CA_SERVER,
    text: 'The secure port issues certificates, if there is a root',
  },
  {
    name: 'ROOT_CA_DIR',
    example: '/etc/cacerts',
    standard: caDefaults.ROOT_CA_DIR,
    text: 'Folder with the key and the certificates of the CA, as in istiod',
  },
  {
    name: 'SELF_SIGNED_CA_FILE',
    example: '/data/self-signed-ca.pem',
    standard: caDefaults.SELF_SIGNED_CA_FILE,
    text: 'Self-signed root if `ROOT_CA_DIR` has no CA; created if missing',
  },
  {
    name: 'CITADEL_SELF_SIGNED_CA_CERT_TTL',
    example: '43800h',
    standard: caDefaults.CITADEL_SELF_SIGNED_CA_CERT_TTL,
    text: 'Lifetime of a new self-signed root',
  },
  {
    name: 'DEFAULT_WORKLOAD_CERT_TTL',
    example: '12h',
    standard: caDefaults.DEFAULT_WORKLOAD_CERT_TTL,
    text: 'Lifetime of a certificate if the agent asks for none',
  },
  {
    name: 'MAX_WORKLOAD_CERT_TTL',
    example: '168h',
    standard: caDefaults.MAX_WORKLOAD_CERT_TTL,
    text: 'A request for a longer lifetime is refused',
  },
  {
    name: 'CERTIFICATES_PER_SECOND',
    example: '20',
    standard: caDefaults.CERTIFICATES_PER_SECOND,
    text: 'Most certificates for one identity per second; a burst: twice as many',
  },
  {
    name: 'ISTIOD_CUSTOM_HOST',
    example: 'mesh.example,10.0.0.7',
    standard: caDefaults.ISTIOD_CUSTOM_HOST,
    text: 'More names in the certificate of the secure port',
  },
  {
    name: 'TOKEN_AUDIENCES',
    example: 'istio-ca,mesh.example',
    standard: tokenDefaults.TOKEN_AUDIENCES,
    text: 'A token that Kubernetes reviews is for one of these audiences',
  },
  {
    name: 'JWT_RULE',
    example: '{"issuer":"https://a.example","audiences":["a"]}',
    standard: tokenDefaults.JWT_RULE,
    text: 'Issuer (OpenID) whose tokens count',
  },
  {
    name: 'KUBECONFIG',
    example: '/etc/kubeconfig',
    standard: '',
    text: 'Same as `--kubeconfig`, which wins',
  },
  {
    name: 'POD_NAMESPACE',
    example: 'mesh',
    standard: 'istio-system',
    text: 'Namespace of the ConfigMap `istio` with the MeshConfig',
  },
  {
    name: 'POD_NAME',
    example: 'istiod-0',
    standard: '',
    text: 'Name of the control plane; if not given: the host name of the machine',
  },
];

/** An answer of `--httpAddr` to this machine: the query of an example, and the meaning. */
interface DebugPath {
  readonly query?: string;
  readonly text: string;
}

const ofProxy = '?proxyID=reviews-0.default';
const answers: Readonly<Record<string, DebugPath>> = {
  '/debug/syncz': {
    text: 'Each proxy: what was sent, what it ACKed or NACKed, why nothing more is sent',
  },
  '/debug/adsz': { text: 'Each stream: its proxy, its subscriptions, the time it began' },
  '/debug/connections': { text: 'Each stream: its proxy, its address, the time it began' },
  '/debug/configz': { text: 'The resources that are in use' },
  '/debug/flawz': {
    text: 'Refused or unserved parts of resources: file, line, field, reason',
  },
  '/debug/registryz': { text: 'The services' },
  '/debug/endpointz': { text: 'The endpoints of each service' },
  '/debug/keyz': { text: 'The keys of issuers that were fetched' },
  '/debug/mesh': { text: 'The MeshConfig' },
  '/debug/networkz': { text: 'The gateways of networks, and the ranges of their endpoints' },
  '/debug/push_status': { text: 'Services without endpoints; hosts with two VirtualServices' },
  '/debug/trace': {
    text: 'The last 100 snapshots: the change, the time of each step, the slowest proxy',
  },
  '/debug/proxyz': { text: 'Each proxy: its node, and the version of its resources of each type' },
  '/debug/config_dump': {
    query: ofProxy,
    text: 'All resources of a proxy, in the form of Envoy',
  },
  '/debug/edsz': { query: ofProxy, text: 'The endpoints of a proxy' },
  '/debug/sidecarz': { query: ofProxy, text: 'The Sidecar that applies to a proxy' },
};

/** Examples of each command, and of its options. */
export const discoveryCommands: Readonly<Record<string, readonly string[]>> = {
  discovery: [
    'pilot-discovery discovery --configDir /etc/mesh',
    'pilot-discovery discovery --registries Kubernetes --kubeconfig /etc/kubeconfig',
  ],
  analyze: [
    'pilot-discovery analyze mesh/',
    'pilot-discovery analyze -o json mesh/ more.yaml',
    'pilot-discovery analyze --domain mesh.example mesh/',
    'pilot-discovery analyze --meshConfig mesh.yaml --registries Consul mesh/',
  ],
  diff: [
    'pilot-discovery diff old/ new/',
    'pilot-discovery diff --against 127.0.0.1:8080 new/',
    'pilot-discovery diff -o json --meshConfig mesh.yaml --domain mesh.example --namespace shop old/ new/',
    'pilot-discovery diff --proxy sidecar~10.0.0.1~app.shop~shop.svc.cluster.local,app=app old/ new/',
  ],
  request: [
    'pilot-discovery request GET /debug/syncz',
    'pilot-discovery request --httpAddr 10.0.0.7:8080 GET /ready',
  ],
  confirm: ['pilot-discovery confirm', 'pilot-discovery confirm --httpAddr 127.0.0.1:9080'],
  version: ['pilot-discovery version'],
};

/** A line of curl for each path of `--httpAddr` and `--monitoringAddr`, with its meaning. */
export function discoveryPaths(): readonly (readonly [line: string, text: string])[] {
  const served = [debugAnswers, connectedAnswers, proxyAnswers].flatMap((all) => Object.keys(all));
  return [
    ['curl localhost:8080/ready', '200 if all sources are read, otherwise 503 with the reason'],
    ['curl -X POST localhost:8080/confirm', 'Lets held removals happen'],
    ...served.map((path) => {
      const entry = answers[path];
      if (entry === undefined) throw new Error(`scripts/docs/discovery.ts does not have ${path}`);
      const { query = '', text } = entry;
      return [`curl ${shellWord(`localhost:8080${path}${query}`)}`, text] as const;
    }),
    ['curl localhost:15014/metrics', 'The [metrics](#metrics)'],
  ];
}

export function discoveryPage(): string {
  const names = Object.keys(discoveryFlags) as DiscoveryFlagName[];
  const all = discoveryProgram().commands;
  return page(
    'pilot-discovery',
    paragraph(
      '`pilot-discovery discovery` is a control plane that works with and without Kubernetes. It reads resources from a folder of YAML files, the Kubernetes API and Consul, ' +
        'follows their changes, and serves xDS v3 to Envoys.',
    ),
    section(
      'Commands',
      table(
        ['Command', 'Meaning'],
        all.map((command) => [
          code(usage(command.name(), command)),
          sentence(command.description()),
        ]),
      ),
      block('sh', Object.values(discoveryCommands).flat().join('\n')),
      table(
        ['Flag', 'Default', 'Meaning'],
        all
          .filter((command) => command.name() !== 'discovery')
          .flatMap((command) =>
            command.options.map(({ flags, description, defaultValue }) => [
              code(`${command.name()} ${flags}`),
              typeof defaultValue === 'string' ? code(defaultValue) : '–',
              sentence(description),
            ]),
          ),
      ),
    ),
    section(
      'Flags',
      paragraph(
        'These are the flags of `pilot-discovery discovery`, each with an example of a value. The names are those of istiod; upper and lower case are the same. ' +
          'An unknown flag is ignored with a warning.',
      ),
      table(
        ['Flag', 'Value', 'Default', 'Meaning'],
        names.map((name) => {
          const { value, text, default: standard, example } = discoveryFlags[name];
          return [
            code(`--${name} ${shellWord(example)}`),
            code(value),
            standard === '' ? '–' : code(standard),
            sentence(text),
          ];
        }),
      ),
      list([
        '`--caCertFile`: Without `--tlsCertFile`, these roots are in addition to those of the control plane.',
        '`--configReaders`: The readers are control planes. `plaintext` is any caller without TLS.',
        '`--massRemovalHold`: A large removal takes effect after this time, or earlier if somebody confirms it.',
      ]),
    ),
    section(
      'Variables',
      table(
        ['Variable', 'Default', 'Meaning'],
        discoveryVariables.map(({ name, example, standard, text }) => [
          code(typedVariable(name, example)),
          standard === '' ? '–' : code(standard),
          text,
        ]),
      ),
      list([
        `\`BLOCKED_CIDRS_IN_JWKS_URIS\`: The default is ${code(usuallyBlocked)}: the addresses of the machine itself, and those of the metadata servers of clouds.`,
        '`TOKEN_AUDIENCES`: It has no effect on the tokens of `JWT_RULE`, which has its own audiences.',
      ]),
    ),
    section(
      'HTTP',
      paragraph(
        '`--httpAddr` answers `/ready` to all clients, and the other paths only to clients on its machine. The answers of `/debug` are JSON. ' +
          '`--monitoringAddr` answers `/metrics`. A `proxyID` is `NAME.NAMESPACE`, as `/debug/syncz` shows it.',
      ),
      table(
        ['Request', 'Answer'],
        discoveryPaths().map(([line, text]) => [code(line), text]),
      ),
    ),
    section(
      'Analysis',
      paragraph(
        '`pilot-discovery analyze` reads files, and folders with all folders below them, as `--configDir` does. It prints one line with the place for each finding. ' +
          'The exit code is 1 if a finding is an error, otherwise 0. It is 64 if a path does not exist. The codes are those of `istioctl analyze`. ' +
          'Give `--meshConfig` and `--registries` as the control plane has them: providers are compared with the MeshConfig, and hosts of these registries are not reported as unknown. ' +
          'Selectors are compared with the Pods and WorkloadEntries of the files, if there are any.',
      ),
      table(
        ['Code', 'Level', 'Finding'],
        Object.entries(findingKinds).map(([name, { level, what }]) => [
          code(name),
          level,
          sentence(what),
        ]),
      ),
    ),
    section(
      'Comparison',
      paragraph(
        '`pilot-discovery diff OLD NEW` compares what proxies receive if a control plane reads NEW instead of OLD. Each is a folder, or a file. ' +
          'The proxies are those of the workloads that OLD or NEW describes: Pods and WorkloadEntries with an IP address, and endpoints with an IP address of ServiceEntries that are MESH_INTERNAL. ' +
          'If a selector of Gateways selects none of these workloads, there is one router for this selector. A Gateway without a selector makes no router. `--proxy` names one more proxy. With `--against`, NEW is compared with what a running `pilot-discovery` serves its connected proxies. ' +
          'Proxies with the same changes form one group.',
      ),
      paragraph(
        `At most ${shownAtMost.groups} groups are shown, with ${shownAtMost.resources} resources each and ${shownAtMost.paths} paths for each of these. The rest is counted. ` +
          'Mistakes in OLD and NEW are printed on stderr, as `analyze` prints them.',
      ),
      table(
        ['Exit code', 'Meaning'],
        [
          [code('0'), 'Nothing changes'],
          [code('1'), 'Something changes for a proxy'],
          [code('64'), 'The command line is wrong, or no proxy is described or named'],
          [code('69'), 'The control plane of `--against` does not answer, or has no proxy'],
          [
            code('78'),
            'The MeshConfig is wrong, a folder cannot be read, or a resource of NEW is refused',
          ],
        ],
      ),
    ),
    section(
      'Limits of clients',
      paragraph(
        'A request has at most `--largestRequest` bytes and 16 KiB of metadata. Compressed requests are refused. The first 4,096 characters of the reason of a NACK are kept. ' +
          'This table has the other limits. If the last column has a gRPC status, such as RESOURCE_EXHAUSTED, a stream ends with that status: the stream that exceeds the limit, or the one that the column names.',
      ),
      table(
        ['Quantity', 'Limit', 'If it is exceeded'],
        Object.values<ClientLimit>(clientLimits).map((limit) => [
          limit.what,
          quantity(limit),
          limit.beyond,
        ]),
      ),
    ),
    section(
      'Metrics',
      table(
        ['Metric', 'Type', 'Meaning'],
        discoveryFamilies({ ...initialView, ca: initialCa }, '').map(({ name, type, help }) => [
          code(name),
          type,
          sentence(help),
        ]),
      ),
    ),
  );
}

/** `256 KiB`, `5 s`. */
function quantity({ value, unit }: ClientLimit): string {
  const number = (count: number) => count.toLocaleString('en');
  if (unit === 'ms') return value < 1_000 ? `${number(value)} ms` : `${number(value / 1_000)} s`;
  if (unit !== 'bytes') return `${number(value)} ${unit}`.trim();
  const steps = [
    [1 << 20, 'MiB'],
    [1_000_000, 'MB'],
    [1 << 10, 'KiB'],
  ] as const;
  const [size, name] = steps.find(([step]) => value % step === 0) ?? [1, 'bytes'];
  return `${number(value / size)} ${name}`;
}
