import {
  asyncScheduler,
  defer,
  filter,
  map,
  merge,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs';

/** Between two looks at the clock. In ms. */
const look = 60_000;

/**
 * Emits 0 once and completes: after `delay` ms, or earlier, within a minute, where the clock says
 * that so much time is over. The timers of a machine that is suspended stand still; its clock does
 * not. Cold; never errors.
 */
export function clockTimer(
  delay: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<0> {
  return defer(() => {
    const start = scheduler.now();
    const seen$ = timer(look, look, scheduler).pipe(filter(() => scheduler.now() - start >= delay));
    return merge(timer(delay, scheduler), seen$).pipe(
      take(1),
      map(() => 0 as const),
    );
  });
}
