import {
  exhaustMap,
  ignoreElements,
  map,
  type Observable,
  type SchedulerLike,
  takeWhile,
  timer,
} from 'rxjs';

/**
 * Sweeps every `period` ms once `come$` has emitted, and as long as anything is left: while nothing
 * is left no timer runs. Emits nothing; completes and errors with `come$`.
 *
 * @param sweep drops entries that are no longer used, and returns how many are left to look at
 * again
 */
export function sweepUp(
  come$: Observable<unknown>,
  period: number,
  sweep: () => number,
  scheduler: SchedulerLike,
): Observable<never> {
  const sweeps$ = (): Observable<number> =>
    timer(period, period, scheduler).pipe(
      map(sweep),
      takeWhile((left) => left > 0),
    );
  return come$.pipe(exhaustMap(sweeps$), ignoreElements());
}
