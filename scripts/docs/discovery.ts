import { findingKinds } from '../../src/pilot-discovery/analyze/finding.ts';
import { debugAnswers, proxyAnswers } from '../../src/pilot-discovery/debug/debug-answers.ts';
import { discoveryFamilies } from '../../src/pilot-discovery/debug/discovery-families.ts';
import { type ClientLimit, clientLimits } from '../../src/pilot-discovery/push/client-limits.ts';
import { freshView } from '../../src/pilot-discovery/state/fold-view.ts';
import {
  type DiscoveryFlagName,
  discoveryFlags,
} from '../../src/pilot-discovery/run/discovery-flags.ts';
import { code, page, paragraph, section, sentence, table } from './markdown.ts';

/** The variables that `pilot-discovery discovery` reads, with their defaults. */
export const discoveryVariables: readonly (readonly [
  name: string,
  standard: string,
  meaning: string,
])[] = [
  [
    'PILOT_DEBOUNCE_AFTER',
    '100ms',
    'Changes are given to proxies once nothing has changed for so long',
  ],
  ['PILOT_DEBOUNCE_MAX', '10s', 'The longest that a change waits for others'],
  ['PILOT_ENABLE_EDS_DEBOUNCE', 'true', 'Changes of endpoints alone wait too: 20 ms, at most 1 s'],
  ['PILOT_DEBOUNCE', '', '`adaptive`: the first change after a silence waits 10 ms'],
  ['ISTIO_GPRC_MAXRECVMSGSIZE', '4194304', 'As `--largestRequest`, if that is not given'],
  ['PILOT_PUSH_THROTTLE', '0', 'To how many proxies is written at once; 0 is 8 for each CPU'],
  [
    'PILOT_FILTER_GATEWAY_CLUSTER_CONFIG',
    'true',
    'A gateway is given what its routes lead to, not all clusters',
  ],
  ['BLOCKED_CIDRS_IN_JWKS_URIS', '', 'Ranges that no `jwksUri` is fetched from; `none` for none'],
  ['POD_NAME', '', 'What the control plane calls itself; without it the name of the machine'],
];

const answers: Readonly<Record<string, string>> = {
  '/debug/syncz': 'Each proxy: what it was given and has accepted, and why nothing more is sent',
  '/debug/adsz': 'Each connection: its proxy, what it asks for, since when',
  '/debug/connections': 'Each connection: its proxy, since when',
  '/debug/configz': 'The resources that are in use',
  '/debug/flawz': 'What is refused or not served: resource, file, line, field, reason',
  '/debug/registryz': 'The services',
  '/debug/endpointz': 'The endpoints of each service',
  '/debug/mesh': 'The MeshConfig',
  '/debug/push_status': 'Services without endpoints, and hosts that two VirtualServices have',
  '/debug/trace':
    'The last 100 snapshots: what changed, each step, the slowest proxy, what now waits for what',
  '/debug/config_dump': 'All that a proxy may have, as Envoy tells it: `?proxyID=NAME.NAMESPACE`',
  '/debug/edsz': 'The endpoints that a proxy may have: `?proxyID=NAME.NAMESPACE`',
  '/debug/sidecarz': 'The Sidecar that holds for a proxy: `?proxyID=NAME.NAMESPACE`',
};

export function discoveryPage(): string {
  const names = Object.keys(discoveryFlags) as DiscoveryFlagName[];
  const served = [...Object.keys(debugAnswers), ...Object.keys(proxyAnswers)];
  const unknown = served.filter((path) => answers[path] === undefined);
  if (unknown.length > 0)
    throw new Error(`scripts/docs/discovery.ts says nothing of ${unknown.join(', ')}`);
  return page(
    'pilot-discovery',
    paragraph(
      '`pilot-discovery discovery --configDir FOLDER` is a control plane of its own: it reads the resources of Istio from a folder of YAML files, follows ' +
        'their changes, and serves xDS v3 to Envoys. `pilot-discovery request GET PATH` asks a running one, `pilot-discovery confirm` lets removals happen that it holds back, `pilot-discovery analyze PATH…` looks at files before they are served, and `pilot-discovery version` prints the version.',
    ),
    section(
      'Flags',
      paragraph(
        'The names are those of istiod, whatever the case of their letters. An unknown flag is ignored with a warning.',
      ),
      table(
        ['Flag', 'Value', 'Default', 'Meaning'],
        names.map((name) => {
          const { value, text, default: standard } = discoveryFlags[name];
          return [
            code(`--${name}`),
            code(value),
            standard === '' ? '–' : code(standard),
            sentence(text),
          ];
        }),
      ),
    ),
    section(
      'Variables',
      table(
        ['Variable', 'Default', 'Meaning'],
        discoveryVariables.map(([name, standard, text]) => [
          code(name),
          standard === '' ? '–' : code(standard),
          text,
        ]),
      ),
    ),
    section(
      'HTTP',
      paragraph(
        '`--httpAddr` answers `/ready`: 200 once all sources are read, otherwise 503 with the reason. A POST of its own machine to `/confirm` is what `pilot-discovery confirm` sends. To callers of its own machine it answers the paths below, ' +
          'in JSON. `--monitoringAddr` answers `/metrics`.',
      ),
      table(
        ['Path', 'What it has'],
        served.map((path) => [code(path), answers[path] ?? '']),
      ),
    ),
    section(
      'Analysis',
      paragraph(
        '`pilot-discovery analyze PATH…` reads files, and folders with all below them, as `--configDir` does. It prints a line for each thing that is wrong, with its place: `analyze mesh/ -o json` prints JSON. ' +
          '`--domain` completes hosts without a dot (default: `cluster.local`). The exit code is 1 if there is an error, 0 if not, and 64 for a path that is not there. The codes are those of `istioctl analyze`.',
      ),
      table(
        ['Code', 'Level', 'It finds'],
        Object.entries(findingKinds).map(([name, { level, what }]) => [
          code(name),
          level,
          sentence(what),
        ]),
      ),
    ),
    section(
      'Limits of clients',
      paragraph(
        'A request has as many bytes as `--largestRequest` says, 16 KiB of metadata, and is not compressed. The first 4,096 characters of the reason of a NACK count. These are the other limits; a status ends the stream.',
      ),
      table(
        ['What', 'Limit', 'Beyond it'],
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
        discoveryFamilies(freshView, '').map(({ name, type, help }) => [
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
  const number = (of: number) => of.toLocaleString('en');
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
