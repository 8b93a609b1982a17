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

/** From one look to the next. In ms. */
const look = 250;
/** It is told that it is not ready after so long, and then as often. In ms. */
const patience = { first: 10_000, next: 60_000 };

/**
 * Looks whether the agent is ready, which `unready$` emits once, 4 times a second. Emits why it is
 * not, after 10 s and then once a minute. Cold; never completes: who has seen that it is ready
 * unsubscribes.
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
