import type { LogLine } from '../../shared/log/log-line.ts';
import { narrateRun } from './narrate-run.ts';
import { type Part, type PartFailed, partLine, troubleOf } from './state/part.ts';
import { type RunEvent, type RunView, view, withFailure } from './state/view.ts';

/**
 * Returns the view of a run after one more event, with the log lines for it. Pure.
 *
 * Never throws. If the timeline fails, the state of the agent is still updated. If the narration
 * fails, a line says so. Both count as failures of a part.
 */
export function runStep(before: RunView, event: RunEvent): RunView {
  const next = attempted('timeline', () => view(before, event), agentAlone(before, event));
  const narration = attempted<readonly LogLine[]>(
    'log',
    () => narrateRun({ value: event, before, state: next.result }),
    [],
  );
  const failures = [...next.failures, ...narration.failures];
  return {
    ...failures.reduce(withFailure, next.result),
    lines: [...narration.result, ...failures.map(partLine)],
  };
}

/** Updates only the state of the agent, from which readiness and the exit code are derived. */
function agentAlone(before: RunView, { sign }: RunEvent): RunView {
  return sign.type === 'transition' ? { ...before, agent: sign.transition.state } : before;
}

interface Attempt<T> {
  readonly result: T;
  readonly failures: readonly PartFailed[];
}

/** Runs `action`, and reports an exception as a failure. The next event is the next attempt. */
function attempted<T>(part: Part, action: () => T, otherwise: T): Attempt<T> {
  try {
    return { result: action(), failures: [] };
  } catch (error) {
    return {
      result: otherwise,
      failures: [{ type: 'part-failed', part, ...troubleOf(error), delayMs: 0 }],
    };
  }
}
