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

/** Returns the state without the fields that only one phase has. */
function commonFields(state: AgentState): Omit<Draining, 'phase'> {
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

/** Asks every process to end; the exit of the last one ends the agent. */
export function stopAll(state: AgentState, outcome: Outcome): AgentStep<Ending> {
  const phase = state.epochs.size === 0 ? 'stopped' : 'stopping';
  const [next, stops] = stopLineages<Ending>({ ...commonFields(state), phase, outcome });
  return [next, [{ type: 'cancel-retry' }, ...stops, ...withdrawal(state)]];
}

/**
 * Sends clients elsewhere, then adds the effects `then`. Nothing is started after this, but the
 * agent goes on. A child that comes up is killed: its parent is the one that drains.
 */
export function drain(state: AgentState, then: readonly Effect[] = []): AgentStep<Draining> {
  const kills = childrenComingUp(state).map((epoch): Effect => ({
    type: 'kill-unless-live',
    epoch,
  }));
  return [
    { ...commonFields(state), phase: 'draining' },
    [{ type: 'cancel-retry' }, ...kills, ...askDrain(state), ...then, ...withdrawal(state)],
  ];
}

/**
 * Ends the agent and its processes: the first request drains first, the second one skips the drain,
 * the third one kills.
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
 * Ends only the agent, if this is the first request and a process can go on without it. Otherwise
 * ends the processes too.
 */
export function leave(state: AgentState): AgentStep {
  const goesOn =
    (state.phase === 'running' || state.phase === 'draining') &&
    state.terminations === 0 &&
    state.epochs.size > 0;
  return goesOn
    ? stay({ ...commonFields(state), phase: 'stopped', outcome: { kind: 'asked' } })
    : terminate(state);
}
