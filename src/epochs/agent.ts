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

/** The inputs that drive the agent. */
export interface Inputs {
  /**
   * The missing files, and each reading that differs from the one before. The first reading starts
   * the first epoch.
   */
  readonly config$: Observable<ConfigEvent>;
  /**
   * The missing resources, as text, whenever they change: '' once an Envoy would get an answer at
   * once. Nothing is missing before the first value. Never errors.
   */
  readonly resources$: Observable<string>;
  /** A restart by hand: who requests it, and the reading from which an Envoy would start now. */
  readonly restart$: Observable<{ readonly by: string; readonly reading: Reading<EpochConfig> }>;
  /** Requests to drain without ending. */
  readonly drain$: Observable<unknown>;
  /** Emits when the log files were moved away. */
  readonly reopen$: Observable<unknown>;
  /** The processes that an earlier agent left, oldest first. If it does not emit there are none. */
  readonly adopted$: Observable<readonly AdoptedEpoch[]>;
  /** Requests to end the agent without its proxy; the value is who asks. */
  readonly leave$: Observable<string>;
  /**
   * Requests to end the agent; the value is who asks. The second one skips the drain, the third one
   * kills.
   */
  readonly terminate$: Observable<string>;
}

/** One transition of the agent. */
export type AgentTransition = Transition<AgentState, AgentEvent>;

/**
 * Runs the whole agent: emits each transition, and completes after the transition to the phase
 * `stopped`. Then no process is left, or all are left running on purpose.
 *
 * Cold: each subscription is an agent with its own processes. Unsubscribing kills them. Errors only
 * because of a bug.
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
