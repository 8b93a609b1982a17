import type { Flag } from '../../src/shared/text/flag.ts';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { logFlags } from '../../src/shared/log/log-flags.ts';
import { goFlags, goVariables, olderGoFlags } from './go-agent-names.ts';
import { idleVariables } from '../../src/pilot-agent/config/idle-variables.ts';
import { controlPlaneVariables } from './control-plane-variables.ts';
import { code, list, page, paragraph, section, sentence, table } from './markdown.ts';
import { variables } from './variables.ts';

/**
 * The effect of a flag or a variable here. `works`: it has the same effect. `warned`: it has no
 * effect, and the agent warns. `silent`: it has no effect, and no warning is needed.
 */
export type Fate = 'works' | 'warned' | 'silent';

export interface Row {
  readonly name: string;
  /** The Go agents that have this flag or variable. */
  readonly versions: readonly string[];
  readonly fate: Fate;
  /** The step to take instead, or why nothing is needed. */
  readonly word?: string;
}

const iptables = 'only istio-iptables uses them';
const ofGo = 'only the runtime of Go uses them';
const bothUnused = 'the Go agent does not use them either';

/** Variables that have no effect and need no warning, each with the reason. */
const silentVariables: Readonly<Record<string, string>> = {
  CANONICAL_REVISION: 'the agent uses the labels of the pod',
  CANONICAL_SERVICE: 'the agent uses the labels of the pod',
  DRY_RUN_FILE_PATH: iptables,
  ENVOY_SKIP_DEPRECATED_LOGS: 'Envoy always logs the use of deprecated fields',
  ENVOY_USER: iptables,
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: 'the drain always ends when nothing is in flight',
  GODEBUG: ofGo,
  GOMAXPROCS: ofGo,
  GOMEMLIMIT: ofGo,
  HOST_IP: 'Kubernetes inserts its value into other variables',
  INBOUND_INTERCEPTION_MODE: iptables,
  INBOUND_TPROXY_MARK: iptables,
  INGRESS_GATEWAY_NAMESPACE: bothUnused,
  ISTIO_AUTO_MTLS_ENABLED: 'the agent uses files in /etc/certs as soon as they exist',
  ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR: iptables,
  ISTIO_OUTBOUND_OWNER_GROUPS: iptables,
  ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: iptables,
  NAMESPACE: bothUnused,
};

/** Flags that have no effect and need no warning, each with the reason. */
const silentFlags: Readonly<Record<string, string>> = Object.fromEntries(
  ['log_rotate_max_age', 'log_rotate_max_backups', 'log_rotate_max_size'].map((name) => [
    name,
    'the warning for --log_rotate is enough',
  ]),
);

/** Flags of which the agent warns, and what to do instead. */
const idleFlags: Readonly<Record<string, string>> = {
  applicationPorts: 'readiness does not depend on the listeners of single ports',
  availabilityZone: 'set the label istio-locality of the pod',
  bootstrapv2: 'there is only one bootstrap',
  controlPlaneBootstrap: 'the agent fills in a template in the same way for both values',
  discoveryRefreshDelay: 'the control plane pushes changes',
  log_caller: 'each log line names its component',
  log_rotate: 'move the file of --log_target away, and send SIGUSR1',
  log_stacktrace_level: 'bugs and failed parts always have a stack trace',
  passthrough: 'use $ISTIO_BOOTSTRAP_OVERRIDE',
  vklog: 'the agent does not use the Kubernetes client of Go',
};

/** The flags of `proxy` of all Go agents. */
export function flagRows(): readonly Row[] {
  const knownFlags: Readonly<Record<string, Flag>> = { ...flags, ...logFlags };
  const all = { ...goFlags, ...Object.fromEntries(olderGoFlags.map((name) => [name, ['older']])) };
  return rows(all, { warned: idleFlags, silent: silentFlags }, (name) =>
    Object.hasOwn(knownFlags, name),
  );
}

/** The variables of all Go agents. */
export function variableRows(): readonly Row[] {
  const read = new Set(Object.values(variables).flatMap((group) => group.map(({ name }) => name)));
  const warned = Object.fromEntries(
    Object.entries(idleVariables).map(([name, { instead }]) => [name, instead]),
  );
  return rows(
    goVariables,
    { warned, silent: silentVariables },
    (name) => read.has(name) || /^ISTIO_META_./.test(name),
  );
}

/** Makes the rows of all names. Throws for a name whose effect is unknown. */
function rows(
  all: Readonly<Record<string, readonly string[]>>,
  words: Readonly<Record<'warned' | 'silent', Readonly<Record<string, string>>>>,
  works: (name: string) => boolean,
): readonly Row[] {
  return Object.entries(all)
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([name, versions]) => {
      const fate = (['warned', 'silent'] as const).find((kind) => Object.hasOwn(words[kind], name));
      if (fate !== undefined) return { name, versions, fate, word: words[fate][name] ?? '' };
      if (!works(name))
        throw new Error(
          `scripts/docs/go-agents.ts does not describe ${name} of the Go agents ${versions.join(', ')}`,
        );
      return { name, versions, fate: 'works' };
    });
}

/** Values that a Go agent accepts, and that this agent refuses with 64. */
export const refusals: readonly { readonly given: string; readonly goAgent: string }[] = [
  { given: 'proxy ingress', goAgent: 'a role of 1.1' },
  { given: '--controlPlaneAuthPolicy TLS', goAgent: 'counts as NONE' },
  { given: '--concurrency=-1', goAgent: 'counts as 0' },
  { given: '--envoyMetricsService {', goAgent: 'is ignored, with a warning' },
];

const shownAs = (name: string, flag: boolean) => code(flag ? `--${name}` : name);

function fates(all: readonly Row[], heads: readonly string[], flag: boolean): readonly string[] {
  const words = (fate: Fate) => {
    const remarks = [...new Set(all.flatMap((row) => (row.fate === fate ? (row.word ?? []) : [])))];
    return remarks.map(
      (word) =>
        `${all
          .filter((row) => row.word === word)
          .map(({ name }) => shownAs(name, flag))
          .join(', ')}: ${sentence(word)}.`,
    );
  };
  return [
    table(
      heads,
      all.map(({ name, versions, fate }) => [shownAs(name, flag), versions.join(', '), fate]),
    ),
    paragraph('The reason of each warning, or what to do instead:'),
    list(words('warned')),
    paragraph('The reasons why the silent ones need no warning:'),
    list(words('silent')),
  ];
}

export function goAgentsPage(): string {
  return page(
    'Flags and variables of the Go agents',
    paragraph(
      'These are all flags of `proxy` and all variables of the Go agents 1.5, 1.6 and 1.30. "older" marks a flag that only agents before 1.5 have.',
    ),
    list([
      'works: it has the same effect here.',
      'warned: it has no effect. If it is given, one line of the log says so (`config.warning`). There is no warning for a variable that is empty or has the ' +
        'default of the Go agent.',
      'silent: it has no effect, and needs no warning.',
    ]),
    section('Flags', ...fates(flagRows(), ['Flag', 'Go agents', 'Here'], true)),
    section(
      'Variables',
      paragraph(
        'Any other variable that begins with `ISTIO_META_` or `ISTIO_METAJSON_` works: it is metadata of the node.',
      ),
      ...fates(variableRows(), ['Variable', 'Go agents', 'Here'], false),
    ),
    section(
      'Values that are refused',
      paragraph(
        'The agent accepts the name of each flag and variable above. These values, which a Go agent accepts, are refused with [exit code](exit-codes.md#64) 64:',
      ),
      table(
        ['Given', 'Go agent'],
        refusals.map(({ given, goAgent }) => [code(given), sentence(goAgent)]),
      ),
    ),
    section(
      'Variables of the control plane',
      paragraph(
        'The Go agents contain these names too, because code of the control plane is linked into them. They have no effect in the Go agents, and none in this agent. `pilot-discovery` uses [some of them](pilot-discovery.md#variables).',
      ),
      paragraph(controlPlaneVariables.map((name) => code(name)).join(', ') + '.'),
    ),
  );
}
