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
 * Sweeps each `period` ms from the time that something has come, for as long as anything is left:
 * no timer goes on while there is nothing. Emits nothing; ends and errors with `come$`.
 *
 * @param sweep forgets what is used no more, and says how much is left to be looked at again
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
