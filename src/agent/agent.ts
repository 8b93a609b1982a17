import { concat, map, merge, type Observable, takeWhile } from 'rxjs';
import { reduceWithEffects, type Transition } from '../operators/reduce-with-effects.ts';
import { type AgentEvent, type AgentState, type Effect, initialState } from './model.ts';
import { interpret, type World } from './interpret.ts';
import type { AdoptedEpoch } from './ports.ts';
import { reducer, type RestartPolicy } from './reducer.ts';

/** What moves the agent from outside. */
export interface Inputs {
  /** The files that are still missing of those that the first epoch waits for; `hash$` is not looked at before it has completed. */
  readonly awaited$: Observable<readonly string[]>;
  /** Says what an Envoy would be started from now; each value that differs from the one before is a change. The first one starts the first epoch. */
  readonly hash$: Observable<string>;
  /** A restart by hand: what an Envoy would be started from now. */
  readonly restart$: Observable<string>;
  /** Someone asks to drain without ending. */
  readonly drain$: Observable<unknown>;
  /** Someone has moved the log files away. */
  readonly reopen$: Observable<unknown>;
  /** The processes that an earlier agent has left, the oldest first; none if it does not emit. */
  readonly adopted$: Observable<readonly AdoptedEpoch[]>;
  /** Who asks the agent to end without its proxy. */
  readonly leave$: Observable<string>;
  /** Who asks the agent to end. The second one skips the drain, the third one kills. */
  readonly terminate$: Observable<string>;
}

/** The agent's life, one transition at a time. */
export type AgentTransition = Transition<AgentState, AgentEvent>;

/**
 * The whole agent: emits each transition, and completes after the one to the phase `stopped`, when no process is left, or all are left alone.
 *
 * Cold: a subscription is an agent with processes of its own. Unsubscribing kills them. Errors only by a bug.
 */
export function agent(
  { adopted$, awaited$, hash$, restart$, drain$, reopen$, leave$, terminate$ }: Inputs,
  policy: RestartPolicy,
  world: World,
): Observable<AgentTransition> {
  return merge(
    adopted$.pipe(map((epochs): AgentEvent => ({ type: 'epochs-adopted', epochs }))),
    leave$.pipe(map((by): AgentEvent => ({ type: 'leave-requested', by }))),
    terminate$.pipe(map((by): AgentEvent => ({ type: 'terminate-requested', by }))),
    drain$.pipe(map((): AgentEvent => ({ type: 'drain-requested' }))),
    reopen$.pipe(map((): AgentEvent => ({ type: 'reopen-requested' }))),
    restart$.pipe(map((hash): AgentEvent => ({ type: 'restart-requested', hash }))),
    concat(
      awaited$.pipe(map((missing): AgentEvent => ({ type: 'files-awaited', missing }))),
      hash$.pipe(map((hash): AgentEvent => ({ type: 'config-changed', hash }))),
    ),
  ).pipe(
    reduceWithEffects<AgentState, AgentEvent, Effect>(initialState, reducer(policy), interpret(world)),
    takeWhile(({ state }) => state.phase !== 'stopped', true),
  );
}
