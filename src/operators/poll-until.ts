import {
  asyncScheduler,
  defer,
  EMPTY,
  type MonoTypeOperatorFunction,
  repeat,
  type SchedulerLike,
  takeWhile,
  timer,
} from 'rxjs';

/** How often, and how long, something is asked. In ms. */
export interface Polling {
  /** From the end of an answer to the next question. */
  readonly every: number;
  /**
   * What is answered so long after the first question, or later, is answered last. Without it there
   * is no such end.
   */
  readonly limit?: number;
}

/**
 * Asks the source, which is to be cold, again and again, one question at a time, until `isEnough`
 * holds of a value. Emits each value, that one too, and completes with it; or with the first answer
 * that ends when the limit is over. Errors if the source or `isEnough` does.
 */
export function pollUntil<T>(
  isEnough: (value: T) => boolean,
  { every, limit = Infinity }: Polling,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      const end = scheduler.now() + limit;
      return source.pipe(
        repeat({ delay: () => (scheduler.now() < end ? timer(every, scheduler) : EMPTY) }),
        takeWhile((value) => !isEnough(value), true),
      );
    });
}
