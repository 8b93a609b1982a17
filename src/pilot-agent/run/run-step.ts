import type { LogLine } from '../../shared/log/log-line.ts';
import { narrateRun } from './narrate-run.ts';
import { type Part, type PartFailed, partLine, troubleOf } from './state/part.ts';
import { type RunEvent, type RunView, view, withFailure } from './state/view.ts';

/**
 * What is known of a run once something more has happened in it, and what there is to say of that.
 * Pure.
 *
 * Never throws: where the past cannot be kept, the state of the agent still is; where there are no
 * words for what has happened, a line says that. Both count as failures of a part.
 */
export function runStep(before: RunView, event: RunEvent): RunView {
  const kept = attempted('timeline', () => view(before, event), agentAlone(before, event));
  const said = attempted<readonly LogLine[]>(
    'log',
    () => narrateRun({ value: event, before, state: kept.result }),
    [],
  );
  const failures = [...kept.failures, ...said.failures];
  return {
    ...failures.reduce(withFailure, kept.result),
    lines: [...said.result, ...failures.map(partLine)],
  };
}

/** Readiness and the exit code are made of the state of the agent. */
function agentAlone(before: RunView, { sign }: RunEvent): RunView {
  return sign.type === 'transition' ? { ...before, agent: sign.transition.state } : before;
}

interface Attempt<T> {
  readonly result: T;
  readonly failures: readonly PartFailed[];
}

/** The next attempt comes with the next thing that happens. */
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
