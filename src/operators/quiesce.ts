import {
  asyncScheduler,
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  Subscription,
} from 'rxjs';

/**
 * Returns the length of the silence after which the merged value is emitted, in ms. Called at the
 * first value of a window, with the silence before that value in ms (Infinity before the very
 * first), and with the previous result (0 at first).
 */
export type Quiet = (silence: number, before: number) => number;

/**
 * Merges values, and emits the result `quiet` ms after the last of them, or `max` ms after the
 * first, whichever is earlier. 0 ms means at once.
 *
 * If a value is pending when the source completes, it is emitted when it is due. An error passes at
 * once.
 */
export function quiesce<T>(
  quiet: number | Quiet,
  max: number,
  merge: (before: T, next: T) => T,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      let waiting: readonly [T] | undefined;
      let [isEnded, first, last, length] = [false, 0, -Infinity, 0];
      let timer = Subscription.EMPTY;
      const go = (): void => {
        timer.unsubscribe();
        if (waiting === undefined && isEnded) subscriber.complete();
        if (waiting === undefined) return;
        const now = scheduler.now();
        [first, last] = [Math.min(first, now), Math.min(last, now)]; // a clock may be set back
        const rest = Math.min(last + length, first + max) - now;
        if (rest > 0) {
          timer = scheduler.schedule(go, rest);
          return;
        }
        const [value] = waiting;
        waiting = undefined;
        subscriber.next(value);
        go();
      };
      const take = (next: T) => {
        const now = scheduler.now();
        if (waiting === undefined)
          [first, length] = [now, typeof quiet === 'number' ? quiet : quiet(now - last, length)];
        [waiting, last] = [[waiting === undefined ? next : merge(waiting[0], next)], now];
        go();
      };
      const complete = () => {
        isEnded = true;
        go();
      };
      subscriber.add(() => timer.unsubscribe());
      subscriber.add(
        source.subscribe({
          next: take,
          error: (reason: unknown) => subscriber.error(reason),
          complete,
        }),
      );
    });
}
