import type { Step } from '../operators/reduce-with-effects.ts';
import type { Epoch } from './epoch.ts';
import type { AgentState, Effect, Running } from './model.ts';

/** The result of the reducer: the next state, and the effects in their order. */
export type AgentStep<State extends AgentState = AgentState> = Step<State, Effect>;

/** Returns the state without effects. */
export function stay<State extends AgentState>(state: State): AgentStep<State> {
  return [state, []];
}

/** Does one step after the other, and joins their effects in order. */
export function andThen<State extends AgentState, Next extends AgentState>(
  [state, effects]: AgentStep<State>,
  next: (state: State) => AgentStep<Next>,
): AgentStep<Next> {
  const [last, more] = next(state);
  return [last, [...effects, ...more]];
}

/** Claims the newest reading after `delay` ms. */
export function withRetry(state: Running, delay: number): AgentStep<Running> {
  return [{ ...state, retrying: true }, [{ type: 'retry', delay }]];
}

/** Ends the pause. */
export function withoutRetry(state: Running): AgentStep<Running> {
  return [{ ...state, retrying: false }, [{ type: 'cancel-retry' }]];
}

/** Returns the state with a change of one process; the same state if the process does not exist. */
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
