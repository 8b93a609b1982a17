import {
  asyncScheduler,
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  Subscription,
} from 'rxjs';

/**
 * How long nothing is to come before what has come is emitted, in ms. Asked at the first value of a
 * window, with the ms of silence before it (Infinity before the very first), and the answer to the
 * question before (0 then).
 */
export type Quiet = (silence: number, before: number) => number;

/**
 * Merges values, and emits what they have become `quiet` ms after the last of them, or `max` ms
 * after the first, whichever is earlier. 0 ms is at once.
 *
 * What waits when the source completes is emitted when it is due. An error passes at once.
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
        [first, last] = [Math.min(first, now), Math.min(last, now)]; // a clock may be put back
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
