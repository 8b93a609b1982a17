import {
  concat,
  map,
  merge,
  type Observable,
  of,
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

export interface DiscoveryEnding {
  /** Emits the time within which all proxies are sent elsewhere, in ms. */
  readonly drain$: Observable<number>;
  /** Emits `terminate-requested` at the first request, `over` after the drain or at a second. */
  readonly event$: Observable<DiscoveryEvent>;
}

/**
 * Decides when a control plane ends.
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
  const over: DiscoveryEvent = { type: 'over' };
  return {
    drain$: ending$.pipe(map(({ ms }) => ms)),
    event$: merge(
      ending$.pipe(
        switchMap(({ by, ms }) =>
          concat(
            of<DiscoveryEvent>({ type: 'terminate-requested', by }),
            timer(ms, scheduler).pipe(map(() => over)),
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
