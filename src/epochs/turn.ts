import {
  asyncScheduler,
  combineLatest,
  connect,
  defaultIfEmpty,
  exhaustMap,
  filter,
  forkJoin,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { attentiveTimer } from '../operators/attentive-timer.ts';
import { endOf } from './follow.ts';
import type { AgentEvent, AwaitedParent, Effect } from './model.ts';
import type { Proxy } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Emits `turn-granted` once and completes: when the parent serves, is gone, or has had its 20 s. If
 * the parent comes up alone, the turn is also granted once the parent answers, after 1 s or later,
 * that it is not LIVE (`waiting`).
 *
 * The turn waits, for a limited time, until the epochs older than the parent have drained: a start
 * would cut them at once (measured, Envoy 1.36.2). It also waits, without a limit, until no other
 * lineage has the admin endpoint. The turn is granted at once if there is no parent. It is also
 * granted at once if a silent parent has lost a child, because such a parent serves no one.
 *
 * Reads `events$` from the time of its subscription. Never errors.
 */
export function turn(
  { epoch, parent, older, others }: Extract<Effect, { type: 'await-turn' }>,
  proxy: Pick<Proxy, 'health'>,
  events$: Observable<AgentEvent>,
  { liveTimeout, replaceable, parentShutdown, poll }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  if (parent === undefined) return of({ type: 'turn-granted', epoch, parent: 'gone' });
  const ready$ = merge(
    readiness(parent).pipe(map(() => 'live' as const)),
    endOf(parent.epoch, events$).pipe(map(() => 'gone' as const)),
    attentiveTimer(liveTimeout, scheduler).pipe(map(() => 'stuck' as const)),
    parent.replaceable ? waiting(parent.epoch).pipe(map(() => 'waiting' as const)) : NEVER,
  ).pipe(take(1));
  function waiting(awaited: number): Observable<unknown> {
    return timer(replaceable, poll, scheduler).pipe(
      exhaustMap(() => proxy.health(awaited)),
      filter((health) => health === 'up'), // without an admin endpoint it may be LIVE
    );
  }
  function readiness(awaited: AwaitedParent): Observable<unknown> {
    if (awaited.awaits === undefined) return of(true);
    if (awaited.awaits !== 'answer')
      return events$.pipe(
        filter((event) => event.type === awaited.awaits && event.epoch === awaited.epoch),
      );
    return timer(0, poll, scheduler).pipe(
      exhaustMap(() => proxy.health(awaited.epoch)),
      // A child of a parent that hangs would hang too.
      filter((health) => health !== 'unresponsive'),
    );
  }
  function gone(epochs: readonly number[]): Observable<unknown> {
    return forkJoin(epochs.map((number) => endOf(number, events$))).pipe(defaultIfEmpty(undefined));
  }
  // A parent that comes up asks older epochs to end `parentShutdown` after it is LIVE. If it is
  // never LIVE, none of them drains.
  const limit$ = (states$: typeof ready$) =>
    parent.awaits === 'epoch-live'
      ? states$.pipe(
          switchMap((state) =>
            timer(state === 'stuck' || state === 'waiting' ? 0 : parentShutdown, scheduler),
          ),
        )
      : timer(parentShutdown, scheduler);
  const turn$ = ready$.pipe(
    connect((states$) =>
      combineLatest([states$, merge(gone(older), limit$(states$)).pipe(take(1)), gone(others)]),
    ),
    map(([state]): AgentEvent => ({ type: 'turn-granted', epoch, parent: state })),
  );
  if (!parent.lostChild) return turn$;
  const atOnce$ = of<AgentEvent>({ type: 'turn-granted', epoch, parent: 'live' });
  return proxy
    .health(parent.epoch)
    .pipe(switchMap((health) => (health === 'unresponsive' ? atOnce$ : turn$)));
}
