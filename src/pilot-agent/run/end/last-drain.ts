// Why: docs/decisions/065-a-bug-does-not-kill-envoys.md
import {
  asyncScheduler,
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  endWith,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  scan,
  share,
  switchMap,
  take,
  takeLast,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { drained } from '../../../epochs/drained.ts';
import { ending } from '../../../epochs/ending.ts';
import type { AgentEvent } from '../../../epochs/model.ts';
import type { Health, Proxy, Signal } from '../../../epochs/ports.ts';
import type { Timing } from '../../../epochs/timing.ts';
import { longestTimer } from '../../../operators/longest-timer.ts';
import { pollUntil } from '../../../operators/poll-until.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import type { LivingProcess, ProcessKeeper } from '../start/process-keeper.ts';

/**
 * The time beyond the cap of the drain in which the processes must end, in ms. The drain is then
 * abandoned.
 */
const grace = 10_000;

export interface LastRequests {
  /** Emits when somebody asks the agent to end. */
  readonly terminate$: Observable<unknown>;
  /** How often the agent was asked to end before. */
  readonly terminations: number;
}

/**
 * Takes the Envoys down if the core no longer can. It drains the newest epoch of each lineage. Like
 * the core, it then waits until nothing is in flight, at most until the cap. Then it ends all
 * epochs, in each lineage the youngest first. It uses nothing of the core except the code that
 * counts requests in flight.
 *
 * The second request to end skips the drain, and the third one kills; requests that came before
 * count too. Completes when no process is left, at the latest 10 s after the cap. Cold. Never
 * errors: a step that fails is skipped.
 */
export function lastDrain(
  { living, proxy }: Pick<ProcessKeeper, 'living' | 'proxy'>,
  { terminate$, terminations }: LastRequests,
  timing: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<never> {
  const careful: Careful = {
    health: (epoch) => defer(() => proxy.health(epoch)),
    drain: (epoch, how) => skipFailure(defer(() => proxy.drain(epoch, how))),
    active: (epoch) => defer(() => proxy.active(epoch)).pipe(catchError(() => of(undefined))),
  };
  return defer(() => {
    const exits$ = merge(...living().map(exitOf));
    return exits$.pipe(
      connect((exited$) => {
        const newest = lineagesOf(living()).flatMap((lineage) => lineage.slice(-1));
        const epochs = newest.map(({ epoch }) => epoch);
        const parents = living().flatMap(({ epoch }) => (epochs.includes(epoch) ? [] : [epoch]));
        const requests$ = terminate$.pipe(
          scan((count) => count + 1, terminations),
          share(),
        );
        const health$ = merge(
          ...newest.map((process) =>
            skipFailure(drainWhenLive(process, careful, timing, scheduler)),
          ),
        );
        const idle$ = drained({ epochs, parents }, careful, exited$, timing, scheduler);
        const cut$ = requests$.pipe(filter((count) => count >= 2));
        const drain$ = merge(health$, idle$, cut$).pipe(take(1), ignoreElements());
        const stop$ = defer(() =>
          merge(
            ...lineagesOf(living()).map((lineage) =>
              endLineage(lineage, careful, timing, scheduler),
            ),
          ),
        );
        const kill$ = requests$.pipe(
          filter((count) => count >= 3),
          tap(() => living().forEach(({ send }) => send('SIGKILL'))),
          ignoreElements(),
        );
        const over$ = exited$.pipe(ignoreElements(), endWith(undefined));
        return merge(concat(skipFailure(drain$), skipFailure(stop$)), kill$).pipe(takeUntil(over$));
      }),
      catchError(() => EMPTY),
      takeUntil(timer(Math.min(timing.drainCap + grace, longestTimer), scheduler)),
    );
  });
}

/** The requests to Envoys. A request that fails is skipped. */
type Careful = Pick<Proxy, 'health' | 'drain' | 'active'>;

function drainWhenLive(
  { epoch }: LivingProcess,
  careful: Careful,
  timing: Timing,
  scheduler: SchedulerLike,
): Observable<never> {
  return careful.health(epoch).pipe(
    pollUntil(
      (health) => health === 'live',
      { every: timing.poll, limit: timing.drainCap },
      scheduler,
    ),
    takeLast(1),
    switchMap(() => careful.drain(epoch, 'graceful')),
  );
}

/** Ends the processes of a lineage, the youngest first. */
function endLineage(
  lineage: readonly LivingProcess[],
  careful: Careful,
  timing: Timing,
  scheduler: SchedulerLike,
): Observable<never> {
  const ends = lineage.toReversed().map(({ epoch, life$, send }, index) => {
    const signal$ = ending({ epoch, requester: 'agent' }, careful, timing, scheduler);
    const health$ = careful.health(epoch).pipe(catchError(() => of<Health>('unknown')));
    // A child that is coming up is killed: SIGTERM to it would end its parent at once.
    const orders$ =
      index < lineage.length - 1
        ? health$.pipe(switchMap((health) => (health === 'up' ? of<Signal>('SIGKILL') : signal$)))
        : signal$;
    const over$ = skipFailure(life$.pipe(ignoreElements())).pipe(endWith(undefined));
    return concat(orders$.pipe(tap(send), ignoreElements()), NEVER).pipe(takeUntil(over$));
  });
  return concat(...ends);
}

/** Emits the exit of a process as the event that the core knows. */
function exitOf({ epoch, life$ }: LivingProcess): Observable<AgentEvent> {
  return life$.pipe(
    ofType('exited'),
    map(({ exit }): AgentEvent => ({ type: 'epoch-exited', epoch, exit })),
    catchError(() => EMPTY),
  );
}

function lineagesOf(processes: readonly LivingProcess[]): readonly (readonly LivingProcess[])[] {
  const lineages = [...new Set(processes.map(({ lineage }) => lineage))];
  return lineages.map((lineage) => processes.filter((process) => process.lineage === lineage));
}

function skipFailure(source$: Observable<never>): Observable<never> {
  return source$.pipe(catchError(() => EMPTY));
}
