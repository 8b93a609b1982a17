import {
  asyncScheduler,
  connect,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  type SchedulerLike,
  timer,
  withLatestFrom,
} from 'rxjs';
import type { StatusEvent } from '../../status/status-event.ts';

/** The interval between two checks. In ms. */
const look = 250;
/**
 * The times after which it is reported that the agent is not ready: the first, and the interval. In
 * ms.
 */
const patience = { first: 10_000, next: 60_000 };

/**
 * Checks 4 times a second whether the agent is ready; `unready$` emits once for each check. Emits
 * the reason why it is not, after 10 s and then once a minute. Cold; never completes: unsubscribe
 * when the agent is ready.
 */
export function firstReadiness(
  unready$: Observable<string | undefined>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<StatusEvent> {
  return timer(0, look, scheduler).pipe(
    exhaustMap(() => unready$),
    filter((reason) => reason !== undefined),
    connect((reason$) =>
      merge(
        reason$.pipe(ignoreElements()),
        timer(patience.first, patience.next, scheduler).pipe(
          withLatestFrom(reason$),
          map(([count, reason]): StatusEvent => ({
            type: 'found-unready',
            reason,
            forMs: patience.first + count * patience.next,
          })),
        ),
      ),
    ),
  );
}
