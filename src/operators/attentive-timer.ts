// Why: docs/decisions/014-a-late-agent-is-not-a-silent-envoy.md
import {
  asyncScheduler,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  raceWith,
  type SchedulerLike,
  take,
  takeLast,
  timer,
} from 'rxjs';

/** The longest step. In ms. */
const longestStep = 500;
/** An answer that comes while the loop is late is read between two steps: it needs some. */
const fewestSteps = 4;

/**
 * Emits 0 once and completes: after `delay` ms in which this process could listen. It goes by steps
 * of 500 ms at most, and a time in which the event loop did nothing else, or the process was
 * stopped, counts as one step: who is waited for may have answered meanwhile. Cold; never errors.
 */
export function attentiveTimer(
  delay: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<0> {
  const steps = Math.max(fewestSteps, Math.ceil(delay / longestStep));
  return timer(delay / steps, delay / steps, scheduler).pipe(
    take(steps),
    takeLast(1),
    map(() => 0 as const),
  );
}

/** Errors if no value comes within `delay` ms in which this process could listen. */
export function attentiveTimeout<T>(
  delay: number,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return raceWith(
    attentiveTimer(delay, scheduler).pipe(
      map((): never => {
        throw new Error(`nothing within ${delay / 1_000} s`);
      }),
    ),
  );
}
