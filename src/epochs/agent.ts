import { map, merge, type Observable, takeWhile } from 'rxjs';
import { reduceWithEffects, type Transition } from '../operators/reduce-with-effects.ts';
import {
  type AgentEvent,
  type AgentState,
  type ConfigEvent,
  type Effect,
  initialState,
} from './model.ts';
import { interpret, type World } from './interpret.ts';
import type { EpochConfig, AdoptedEpoch } from './ports.ts';
import type { Reading } from '../streams/reading.ts';
import type { RestartPolicy } from './exits.ts';
import { reducer } from './reducer.ts';

/** What moves the agent from outside. */
export interface Inputs {
  /**
   * What the sources tell: which files are missing, and each reading that differs from the one
   * before. The first reading starts the first epoch.
   */
  readonly config$: Observable<ConfigEvent>;
  /**
   * Which resources are missing, as text, each time that it is another one: '' as soon as an Envoy
   * would be answered at once. Where it does not emit nothing is missing. Never errors.
   */
  readonly resources$: Observable<string>;
  /** A restart by hand: who asks for it, and what an Envoy would be started from now. */
  readonly restart$: Observable<{ readonly by: string; readonly reading: Reading<EpochConfig> }>;
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
 * The whole agent: emits each transition, and completes after the one to the phase `stopped`, when
 * no process is left, or all are left alone.
 *
 * Cold: a subscription is an agent with processes of its own. Unsubscribing kills them. Errors only
 * by a bug.
 */
export function agent(
  { adopted$, config$, resources$, restart$, drain$, reopen$, leave$, terminate$ }: Inputs,
  policy: RestartPolicy,
  world: World,
): Observable<AgentTransition> {
  return merge(
    adopted$.pipe(map((epochs): AgentEvent => ({ type: 'epochs-adopted', epochs }))),
    leave$.pipe(map((by): AgentEvent => ({ type: 'leave-requested', by }))),
    terminate$.pipe(map((by): AgentEvent => ({ type: 'terminate-requested', by }))),
    drain$.pipe(map((): AgentEvent => ({ type: 'drain-requested' }))),
    reopen$.pipe(map((): AgentEvent => ({ type: 'reopen-requested' }))),
    resources$.pipe(map((missing): AgentEvent => ({ type: 'resources-known', missing }))),
    restart$.pipe(map((order): AgentEvent => ({ type: 'restart-requested', ...order }))),
    config$,
  ).pipe(
    reduceWithEffects<AgentState, AgentEvent, Effect>(
      initialState,
      reducer(policy),
      interpret(world),
    ),
    takeWhile(({ state }) => state.phase !== 'stopped', true),
  );
}
