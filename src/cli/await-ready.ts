import { asyncScheduler, defer, EMPTY, type Observable, of, repeat, type SchedulerLike, takeLast, takeWhile, timeout, timer } from 'rxjs';

/** All in ms. */
export interface ReadyLimits {
  /** For all questions together. 0: one question. */
  readonly limit: number;
  /** For one question; less where less is left. */
  readonly patience: number;
  /** From an answer to the next question. */
  readonly period: number;
}

/**
 * Asks `look$`, which emits why something is not ready or undefined if it is, until it is ready. Emits once, undefined or what was wrong last, and
 * completes: before `limit` is over, as soon as no further question fits into it. At least one is asked. Cold; errors only if `look$` does.
 */
export function awaitReady(
  look$: Observable<string | undefined>,
  { limit, patience, period }: ReadyLimits,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  return defer(() => {
    const end = scheduler.now() + limit;
    const left = () => end - scheduler.now();
    return defer(() => {
      const first = limit === 0 ? patience : Math.min(patience, left());
      return look$.pipe(timeout({ first, with: () => of(`no answer within ${first} ms`), scheduler }));
    }).pipe(
      repeat({ delay: () => (left() > period ? timer(period, scheduler) : EMPTY) }),
      takeWhile((reason) => reason !== undefined, true),
      takeLast(1),
    );
  });
}
