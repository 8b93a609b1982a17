import { asyncScheduler, combineLatest, filter, forkJoin, map, merge, type Observable, of, type SchedulerLike, take, timer } from 'rxjs';
import { endOf } from './end-of.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Timing } from './timing.ts';

/**
 * Emits `turn-granted` once and completes: when the parent serves, is gone, or has had its 20 s; but not while an epoch older than the
 * parent still drains, which the start of the next would cut at once (measured, Envoy 1.36.2).
 *
 * Reads `events$` from its subscription on. Never errors.
 */
export function turn(
  { epoch, parent, older }: Extract<Effect, { type: 'await-turn' }>,
  events$: Observable<AgentEvent>,
  { liveTimeout, parentShutdown }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  if (parent === undefined) return of({ type: 'turn-granted', epoch, parent: 'gone' });
  const live$: Observable<unknown> =
    parent.awaits === undefined ? of(true) : events$.pipe(filter((event) => event.type === parent.awaits && event.epoch === parent.epoch));
  const ready$ = merge(
    live$.pipe(map(() => 'live' as const)),
    endOf(parent.epoch, events$).pipe(map(() => 'gone' as const)),
    timer(liveTimeout, scheduler).pipe(map(() => 'stuck' as const)),
  ).pipe(take(1));
  const undisturbed$ =
    older.length === 0
      ? of(true)
      : merge(forkJoin(older.map((number) => endOf(number, events$))), timer(parentShutdown, scheduler)).pipe(take(1));
  return combineLatest([ready$, undisturbed$]).pipe(map(([state]) => ({ type: 'turn-granted', epoch, parent: state })));
}
