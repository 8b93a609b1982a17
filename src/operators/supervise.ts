// Why: docs/decisions/064-each-part-is-supervised.md
import {
  asyncScheduler,
  defer,
  EMPTY,
  expand,
  map,
  type Observable,
  type OperatorFunction,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { backOff, jitter } from './back-off.ts';
import { settle } from './settle.ts';

/** As for an Envoy that crashes. */
const pauses = { first: 200, longest: 30_000 };
const spread = 0.2;
/** A run of this length is no row of failures. In ms. */
const stable = 60_000;

/**
 * Keeps what surrounds the core running: an error of the source, or an exception on
 * subscribe, becomes a value by `failed`, and the source is subscribed again after a pause: 200 ms,
 * twice as long after each further failure, 30 s at most, 20 % more or less. A source that has run
 * for a minute begins with 200 ms again. Cold. Completes with the source. Never errors if `failed`
 * does not throw.
 *
 * @param random makes a number from 0 up to, but not including, 1
 */
export function supervise<T, F>(
  failed: (error: unknown, delay: number) => F,
  random: () => number = Math.random,
  scheduler: SchedulerLike = asyncScheduler,
): OperatorFunction<T, T | F> {
  interface Outcome {
    readonly value: T | F;
    readonly next$: Observable<Outcome>;
  }
  return (source) =>
    defer(() => {
      let failures = 0;
      const life$: Observable<Outcome> = defer(() => {
        const since = scheduler.now();
        return source.pipe(
          settle(),
          map((result): Outcome => {
            if (result.ok) return { value: result.value, next$: EMPTY };
            if (scheduler.now() - since >= stable) failures = 0;
            const delay = Math.round(jitter(backOff(pauses, failures++), spread, random()));
            return {
              value: failed(result.error, delay),
              next$: timer(delay, scheduler).pipe(switchMap(() => life$)),
            };
          }),
        );
      });
      return life$.pipe(
        expand(({ next$ }) => next$),
        map(({ value }) => value),
      );
    });
}
