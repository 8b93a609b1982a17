import type { Mutant } from '../mutant.ts';

export const run: readonly Mutant[] = [
  {
    id: 'run/shown-secret',
    file: 'pilot-agent/run/start/present-config.ts',
    find: 'looksSecret(name, value)',
    replace: 'isSecretName(name)',
  },
  {
    id: 'run/last-drain-kills-child',
    file: 'pilot-agent/run/end/last-drain.ts',
    find: "health === 'up' ? of<Signal>('SIGKILL') : told$",
    replace: "health === 'up' ? told$ : told$",
  },
  { id: 'run/server-had-listened', file: 'pilot-agent/run/state/part.ts', find: ' && hasListened)', replace: ')' },
  {
    id: 'run/bug-of-one-asked-to-end',
    file: 'pilot-agent/run/end/bug.ts',
    find: 'keepEnvoy && agent.terminations === 0',
    replace: 'keepEnvoy',
  },
  { id: 'run/first-bug-counts', file: 'pilot-agent/run/end/bug.ts', find: '      take(1),', replace: '' },
  {
    id: 'run/core-cut-by-uncaught',
    file: 'pilot-agent/run/run-agent.ts',
    find: "      takeUntil(uncaught$.pipe(ofType('bug'))),",
    replace: '',
  },
  {
    id: 'run/held-beyond-run',
    file: 'pilot-agent/run/start/held-processes.ts',
    find: 'resetOnRefCountZero: () => released$',
    replace: 'resetOnRefCountZero: true',
  },
  {
    id: 'run/held-not-started-again',
    file: 'pilot-agent/run/start/held-processes.ts',
    find: 'resetOnError: false, resetOnComplete: false, ',
    replace: '',
  },
  { id: 'run/dead-are-not-held', file: 'pilot-agent/run/start/held-processes.ts', find: '{ error: gone, ', replace: '{ ' },
  { id: 'run/last-drain-newest', file: 'pilot-agent/run/end/last-drain.ts', find: 'lineage.slice(-1)', replace: 'lineage.slice(0, 1)' },
  { id: 'run/last-drain-youngest-first', file: 'pilot-agent/run/end/last-drain.ts', find: 'lineage.toReversed()', replace: 'lineage' },
  { id: 'run/last-drain-second-request', file: 'pilot-agent/run/end/last-drain.ts', find: 'count >= 2', replace: 'count >= 1' },
  { id: 'run/last-drain-third-request', file: 'pilot-agent/run/end/last-drain.ts', find: 'count >= 3', replace: 'count >= 4' },
  { id: 'run/last-drain-requests-before', file: 'pilot-agent/run/end/last-drain.ts', find: '(count) => count + 1, terminations', replace: '(count) => count + 1, 0' }, // prettier-ignore
  {
    id: 'run/last-drain-given-up',
    file: 'pilot-agent/run/end/last-drain.ts',
    find: 'takeUntil(timer(timing.drainCap + grace, scheduler)),',
    replace: '',
  },
  {
    id: 'run/secret-of-gateway',
    file: 'pilot-agent/run/state/secret-troubles.ts',
    find: '!isServed && ofWorkload.test(name)',
    replace: '!isServed',
  },
  {
    id: 'run/secret-served-is-note',
    file: 'pilot-agent/run/state/secret-troubles.ts',
    find: '!isServed && ofWorkload',
    replace: 'ofWorkload',
  },
  {
    id: 'run/secret-stream-over',
    file: 'pilot-agent/run/state/secret-troubles.ts',
    find: 'missing: without(before.missing, event.stream)',
    replace: 'missing: before.missing',
  },
  {
    id: 'run/secret-told-once',
    file: 'pilot-agent/run/state/secret-troubles.ts',
    find: 'told.get(event.name)?.has(event.reason) === true',
    replace: 'false',
  },
  {
    id: 'run/library-signals',
    file: 'pilot-agent/run/outside.ts',
    find: 'obeys ? real.signals(names) : NEVER',
    replace: 'real.signals(names)',
  },
  { id: 'run/library-aborted', file: 'pilot-agent/run/outside.ts', find: "signal.aborted ? of('abort')", replace: "false ? of('abort')" },
  {
    id: 'run/library-repeated',
    file: 'pilot-agent/run/pilot-agent.ts',
    find: "|| 'repeated' in table[name as keyof typeof table]",
    replace: '',
  },
  {
    id: 'run/library-variables',
    file: 'pilot-agent/run/start/effective-config.ts',
    find: 'environment(env)',
    replace: 'environment(process.env)',
  },
  { id: 'run/library-once', file: 'pilot-agent/run/pilot-agent.ts', find: 'isUsed = true;', replace: '' },
];
