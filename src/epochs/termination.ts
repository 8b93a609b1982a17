// Why: docs/decisions/016-sigterm-goes-to-the-youngest.md
import { unreachable } from '../operators/tagged-union.ts';
import { askDrain, childrenComingUp, stopLineages } from './lineage.ts';
import {
  type AgentState,
  claimOf,
  type Draining,
  type Effect,
  type Ending,
  type Outcome,
} from './model.ts';
import { type AgentStep, stay } from './step.ts';

/** The state without what only one phase has. */
function known(state: AgentState): Omit<Draining, 'phase'> {
  const {
    lastEpoch,
    lineage,
    epochs,
    awaited,
    missing,
    wanted,
    refused,
    crashes,
    retried,
    late,
    served,
    terminations,
  } = state;
  return {
    lastEpoch,
    lineage,
    epochs,
    awaited,
    missing,
    wanted,
    refused,
    crashes,
    retried,
    late,
    served,
    terminations,
  };
}

function withdrawal(state: AgentState): readonly Effect[] {
  const claimed = claimOf(state);
  return claimed === undefined ? [] : [{ type: 'withdraw-turn', epoch: claimed.epoch }];
}

/** Tells every process to end; the last one's exit ends the agent. */
export function stopAll(state: AgentState, outcome: Outcome): AgentStep<Ending> {
  const phase = state.epochs.size === 0 ? 'stopped' : 'stopping';
  const [next, stops] = stopLineages<Ending>({ ...known(state), phase, outcome });
  return [next, [{ type: 'cancel-retry' }, ...stops, ...withdrawal(state)]];
}

/**
 * Sends clients elsewhere, does what comes `then`, and starts nothing any more. The agent goes on.
 * A child that comes up is killed: its parent is the one that drains.
 */
export function drain(state: AgentState, then: readonly Effect[] = []): AgentStep<Draining> {
  const kills = childrenComingUp(state).map((epoch): Effect => ({
    type: 'kill-unless-live',
    epoch,
  }));
  return [
    { ...known(state), phase: 'draining' },
    [{ type: 'cancel-retry' }, ...kills, ...askDrain(state), ...then, ...withdrawal(state)],
  ];
}

/**
 * Ends the agent and its processes: the first request drains before, the second one skips the
 * drain, the third one kills.
 */
export function terminate(before: AgentState): AgentStep {
  const state: AgentState = { ...before, terminations: before.terminations + 1 };
  switch (state.phase) {
    case 'running': {
      if (state.epochs.size === 0) return stopAll(state, { kind: 'asked' });
      const epochs = askDrain(state).map(({ epoch }) => epoch);
      const parents = [...state.epochs.keys()].filter((number) => !epochs.includes(number));
      return drain(state, [{ type: 'await-drained', epochs, parents }]);
    }
    case 'draining':
      return stopAll(state, { kind: 'asked' });
    case 'stopping':
      return [
        state,
        state.terminations > 2
          ? [...state.epochs.keys()].map((epoch) => ({ type: 'kill', epoch }))
          : [],
      ];
    case 'stopped':
      return stay(state);
    default:
      return unreachable(state);
  }
}

/**
 * Ends the agent alone, if that is the first request and there is a process to go on without it.
 */
export function leave(state: AgentState): AgentStep {
  const goesOn =
    (state.phase === 'running' || state.phase === 'draining') &&
    state.terminations === 0 &&
    state.epochs.size > 0;
  return goesOn
    ? stay({ ...known(state), phase: 'stopped', outcome: { kind: 'asked' } })
    : terminate(state);
}
