import {
  concat,
  filter,
  forkJoin,
  map,
  merge,
  type Observable,
  observeOn,
  of,
  race,
  type SchedulerLike,
  share,
  skip,
  switchMap,
  take,
  timer,
  withLatestFrom,
} from 'rxjs';
import type { DiscoveryEvent } from '../state/discovery-event.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';

/** The longest pause between two proxies that are sent elsewhere at the end, in ms. */
const leavePause = 10;
/** How long a lease may take to be given back, in ms. */
const giveBackLimit = 1_000;

export interface DiscoveryEnding {
  /** Emits the time within which all proxies are sent elsewhere, in ms. */
  readonly drain$: Observable<number>;
  /** Emits `terminate-requested` at the first request, `over` after the drain or at a second. */
  readonly event$: Observable<DiscoveryEvent>;
}

/**
 * Decides when a control plane ends: its proxies were sent elsewhere, and it holds no lease.
 *
 * @param longest the longest drain, in ms
 */
export function endingOf(
  terminate$: Observable<string>,
  view$: Observable<DiscoveryView>,
  longest: number,
  scheduler: SchedulerLike,
): DiscoveryEnding {
  const request$ = terminate$.pipe(share());
  const ending$ = request$.pipe(
    take(1),
    withLatestFrom(view$),
    map(([by, { connections }]) => ({ by, ms: Math.min(longest, connections.size * leavePause) })),
    share(),
  );
  const givenBack$ = race(
    view$.pipe(filter(({ statusLease }) => statusLease === 'none')),
    timer(giveBackLimit, scheduler),
  ).pipe(
    take(1),
    observeOn(scheduler), // a view is emitted before its event, which must come before `over`
  );
  const over: DiscoveryEvent = { type: 'over' };
  return {
    drain$: ending$.pipe(map(({ ms }) => ms)),
    event$: merge(
      ending$.pipe(
        switchMap(({ by, ms }) =>
          concat(
            of<DiscoveryEvent>({ type: 'terminate-requested', by }),
            forkJoin([timer(ms, scheduler), givenBack$]).pipe(map(() => over)),
          ),
        ),
      ),
      request$.pipe(
        skip(1),
        map(() => over),
      ),
    ),
  };
}
