// Why: docs/decisions/049-the-drain-waits-for-requests.md
import {
  asyncScheduler,
  combineLatest,
  distinctUntilChanged,
  exhaustMap,
  filter,
  forkJoin,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  scan,
  share,
  startWith,
  switchMap,
  take,
  timer,
  withLatestFrom,
} from 'rxjs';
import { endOf } from './follow.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Emits `drained` once and completes: when nothing is in flight, but not before the minimum; and at
 * the cap in any case, even if the count is unknown. `active` is the last count.
 *
 * The count covers the running processes of `epochs`. A child's gauges repeat its parent's work up
 * to 5 s late. So while one of `parents` runs, a count of zero is trusted only after 6 s at zero.
 */
export function drained(
  { epochs, parents }: Pick<Extract<Effect, { type: 'await-drained' }>, 'epochs' | 'parents'>,
  proxy: Pick<Proxy, 'active'>,
  events$: Observable<AgentEvent>,
  { poll, drainMinimum, drainCap, gaugeLag }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  const left$ = merge(...epochs.map((epoch) => endOf(epoch, events$))).pipe(
    scan((left, { epoch }) => left.filter((other) => other !== epoch), epochs),
    startWith(epochs),
  );
  const active$ = timer(0, poll, scheduler).pipe(
    withLatestFrom(left$),
    exhaustMap(([, left]) => forkJoin(left.map((epoch) => proxy.active(epoch)))),
    map((counts) =>
      counts.reduce(
        (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
        0,
      ),
    ),
    share(),
  );
  const alone$ =
    parents.length === 0
      ? of(true)
      : forkJoin(parents.map((parent) => endOf(parent, events$))).pipe(
          map(() => true),
          startWith(false),
        );
  const zero$ = active$.pipe(
    map((count) => count === 0),
    distinctUntilChanged(),
  );
  const idle$ = combineLatest([zero$, alone$]).pipe(
    switchMap(([zero, alone]) => {
      if (!zero || alone) return of(zero);
      return timer(gaugeLag, scheduler).pipe(
        map(() => true),
        startWith(false),
      );
    }),
  );
  const minimum$ = timer(drainMinimum, scheduler);
  return merge(
    combineLatest([idle$, minimum$]).pipe(
      filter(([idle]) => idle),
      map((): AgentEvent => ({ type: 'drained', active: 0 })),
    ),
    combineLatest([active$.pipe(startWith(undefined)), timer(drainCap, scheduler)]).pipe(
      map(([count]): AgentEvent => ({ type: 'drained', active: count })),
    ),
  ).pipe(take(1));
}
