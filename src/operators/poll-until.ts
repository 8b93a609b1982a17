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

/** How often, and for how long, the source is asked. In ms. */
export interface Polling {
  /** From the end of an answer to the next question. */
  readonly every: number;
  /**
   * The first answer that ends this long after the first question, or later, is the last one. If
   * left out, there is no limit.
   */
  readonly limit?: number;
}

/**
 * Asks the source repeatedly, one question at a time, until `isEnough` accepts a value. The source
 * must be cold. Emits each value, including that one, and completes with it; or with the first
 * answer that ends after the limit. Errors if the source or `isEnough` does.
 */
export function pollUntil<T>(
  isEnough: (value: T) => boolean,
  { every, limit = Infinity }: Polling,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      const end = scheduler.now() + limit;
      // The pauses count too, because the clock may be set back.
      const isOver = (answers: number) => scheduler.now() >= end || (answers - 1) * every >= limit;
      return source.pipe(
        repeat({ delay: (answers) => (isOver(answers) ? EMPTY : timer(every, scheduler)) }),
        takeWhile((value) => !isEnough(value), true),
      );
    });
}
