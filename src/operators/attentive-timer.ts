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
/**
 * The smallest number of steps. An event loop that is late reads a pending answer between two
 * steps.
 */
const fewestSteps = 4;

/**
 * Emits 0 once and completes: after `delay` ms in which this process could listen. It counts in
 * steps of at most 500 ms. If the event loop was blocked, or the process was stopped, that time
 * counts as one step: an answer may have arrived meanwhile. Cold; never errors.
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
