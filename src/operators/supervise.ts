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

/** The same pauses as after a crash of Envoy. In ms. */
const pauses = { first: 200, longest: 30_000 };
const spread = 0.2;
/** After a run of this length the next failure counts as the first. In ms. */
const stable = 60_000;

/**
 * Keeps the parts around the core running. Turns an error of the source, or an exception on
 * subscribe, into a value by `failed`, and subscribes to the source again after a pause: 200 ms,
 * doubled after each further failure up to 30 s, 20 % more or less. After the source has run for a
 * minute, the pauses start at 200 ms again. Cold. Completes with the source. Never errors if
 * `failed` does not throw.
 *
 * @param random returns a number from 0 up to, but not including, 1
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
