import { line, type LogLine } from '../shared/log/log-line.ts';
import type { AgentState } from './model.ts';
import type { Narrators } from './narrator.ts';

/** The log lines about requests to the agent: to end, to drain, to open its log again. */
export const endingNarrators: Narrators<
  'leave-requested' | 'terminate-requested' | 'drain-requested' | 'reopen-requested' | 'drained'
> = {
  'leave-requested': ({ by }, before) => [
    termination(by, before, before.terminations === 0 ? 'plain' : manner(before)),
  ],
  'terminate-requested': ({ by }, before) => [termination(by, before, manner(before))],
  'drain-requested': (_, { phase, epochs }) =>
    phase === 'running' ? [line('drain.requested', { active: [...epochs.keys()] })] : [],
  'reopen-requested': () => [line('log.reopened')],
  drained: ({ active }, { phase }) => (phase === 'draining' ? [drainEnd(active)] : []),
};

type Manner = 'plain' | 'draining' | 'drained' | 'cutShort' | 'killed';

function termination(by: string, { epochs }: AgentState, how: Manner): LogLine {
  return line('termination.requested', { by, active: [...epochs.keys()] }, how);
}

function manner({ phase, terminations, epochs }: AgentState): Manner {
  if (phase === 'running') return epochs.size === 0 ? 'plain' : 'draining';
  if (terminations === 0) return 'drained';
  return terminations >= 2 ? 'killed' : 'cutShort';
}

function drainEnd(active: number | undefined): LogLine {
  if (active === undefined) return line('drain.ended', {}, 'unknown');
  return line('drain.ended', { active }, active === 0 ? 'drained' : 'cut');
}
