import type { Step } from '../operators/reduce-with-effects.ts';
import type { Epoch } from './epoch.ts';
import type { AgentState, Effect, Running } from './model.ts';

/**
 * What the reducer makes of an event: the next state, and what is to be done about it, in this
 * order.
 */
export type AgentStep<State extends AgentState = AgentState> = Step<State, Effect>;

/** Nothing is to be done. */
export function stay<State extends AgentState>(state: State): AgentStep<State> {
  return [state, []];
}

/** One step after the other: the effects of both, in their order. */
export function andThen<State extends AgentState, Next extends AgentState>(
  [state, effects]: AgentStep<State>,
  next: (state: State) => AgentStep<Next>,
): AgentStep<Next> {
  const [last, more] = next(state);
  return [last, [...effects, ...more]];
}

/** The newest reading is claimed after a pause of so many ms. */
export function withRetry(state: Running, delay: number): AgentStep<Running> {
  return [{ ...state, retrying: true }, [{ type: 'retry', delay }]];
}

/** There is nothing to pause for any more. */
export function withoutRetry(state: Running): AgentStep<Running> {
  return [{ ...state, retrying: false }, [{ type: 'cancel-retry' }]];
}

/** The state with a change of one process; unchanged where that does not exist. */
export function withEpoch<State extends AgentState>(
  state: State,
  number: number,
  change: Partial<Epoch>,
): State {
  const epoch = state.epochs.get(number);
  return epoch === undefined
    ? state
    : { ...state, epochs: new Map(state.epochs).set(number, { ...epoch, ...change }) };
}
