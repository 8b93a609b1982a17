import { defer, filter, map, type Observable, type SchedulerLike, take, timer } from 'rxjs';

/** Time between two looks at the clock. In ms. */
const look = 60_000;

/**
 * Emits 0 once and completes, up to a minute after the clock has gone back behind the time of the
 * subscription. Cold; never errors.
 */
export function clockStepsBack(scheduler: SchedulerLike): Observable<0> {
  return defer(() => {
    const start = scheduler.now();
    return timer(look, look, scheduler).pipe(
      filter(() => scheduler.now() < start),
      take(1),
      map(() => 0 as const),
    );
  });
}
