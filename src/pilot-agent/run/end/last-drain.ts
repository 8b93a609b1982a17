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
import { pollUntil } from '../../../operators/poll-until.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import type { HeldProcess, HeldProcesses } from '../start/held-processes.ts';

/**
 * Beyond the cap of the drain, for the ends of the processes. What is not over then is given up. In
 * ms.
 */
const grace = 10_000;

export interface LastRequests {
  /** Who asks the agent to end. */
  readonly terminate$: Observable<unknown>;
  /** How often that has been asked before. */
  readonly terminations: number;
}

/**
 * Takes the Envoys down where the core no longer can: drains the newest of each lineage, waits as
 * the core does until nothing is in flight, the cap at most, and then ends them, in each lineage
 * the youngest first. It needs nothing of the core but what counts the requests in flight.
 *
 * The second request to end, those before counted, skips the drain, and the third one kills.
 * Completes when no process is left, 10 s after the cap at the latest. Cold; never errors: what
 * fails is skipped.
 */
export function lastDrain(
  { living, proxy }: Pick<HeldProcesses, 'living' | 'proxy'>,
  { terminate$, terminations }: LastRequests,
  timing: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<never> {
  const careful: Pick<Proxy, 'health' | 'drain' | 'active'> = {
    health: (epoch) => defer(() => proxy.health(epoch)),
    drain: (epoch, how) => skipFailure(defer(() => proxy.drain(epoch, how))),
    active: (epoch) => defer(() => proxy.active(epoch)).pipe(catchError(() => of(undefined))),
  };

  function drainWhenLive({ epoch }: HeldProcess): Observable<never> {
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

  /** A child that comes up is killed: SIGTERM to it would end its parent at once. */
  function end(
    { epoch, life$, send }: HeldProcess,
    index: number,
    lineage: readonly HeldProcess[],
  ): Observable<never> {
    const told$ = ending({ epoch, toldByChild: false }, careful, timing, scheduler);
    const isChild = index < lineage.length - 1;
    const asked$ = careful.health(epoch).pipe(catchError(() => of<Health>('unknown')));
    const orders$ = isChild
      ? asked$.pipe(switchMap((health) => (health === 'up' ? of<Signal>('SIGKILL') : told$)))
      : told$;
    const over$ = skipFailure(life$.pipe(ignoreElements())).pipe(endWith(undefined));
    return concat(orders$.pipe(tap(send), ignoreElements()), NEVER).pipe(takeUntil(over$));
  }

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
        const asked$ = merge(...newest.map((process) => skipFailure(drainWhenLive(process))));
        const idle$ = drained({ epochs, parents }, careful, exited$, timing, scheduler);
        const cut$ = requests$.pipe(filter((count) => count >= 2));
        const drain$ = merge(asked$, idle$, cut$).pipe(take(1), ignoreElements());
        const stop$ = defer(() =>
          merge(...lineagesOf(living()).map((lineage) => concat(...lineage.toReversed().map(end)))),
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
      takeUntil(timer(timing.drainCap + grace, scheduler)),
    );
  });
}

/** The exit of a process as the core knows it. */
function exitOf({ epoch, life$ }: HeldProcess): Observable<AgentEvent> {
  return life$.pipe(
    ofType('exited'),
    map(({ exit }): AgentEvent => ({ type: 'epoch-exited', epoch, exit })),
    catchError(() => EMPTY),
  );
}

function lineagesOf(processes: readonly HeldProcess[]): readonly (readonly HeldProcess[])[] {
  const lineages = [...new Set(processes.map(({ lineage }) => lineage))];
  return lineages.map((lineage) => processes.filter((process) => process.lineage === lineage));
}

function skipFailure(source$: Observable<never>): Observable<never> {
  return source$.pipe(catchError(() => EMPTY));
}
