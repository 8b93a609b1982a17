import {
  asyncScheduler,
  defer,
  ignoreElements,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  repeat,
  type SchedulerLike,
  Subject,
  tap,
  timer,
} from 'rxjs';
import { longestTimer } from './longest-timer.ts';

/**
 * Subscribes to the source at once, and again after its end: at the next value of `occasion$`, or
 * after the pause in ms that `pause` returns for the last value, 24.8 days at most. If it returns
 * undefined, only `occasion$` counts. All occasions while the source runs cause one more run after
 * it.
 *
 * Emits the values of the source. Never completes; errors with the source or with `occasion$`.
 */
export function repeatOn<T>(
  occasion$: Observable<unknown>,
  pause: (last: T | undefined) => number | undefined,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      let isAsked = false;
      let last: T | undefined;
      const requests$ = new Subject<void>();
      const heard$ = occasion$.pipe(
        tap(() => {
          isAsked = true;
          requests$.next();
        }),
        ignoreElements(),
      );
      const run$ = defer(() => {
        isAsked = false;
        return source.pipe(tap((value) => (last = value)));
      });
      const next$ = () => {
        const ms = isAsked ? 0 : pause(last);
        return merge(
          requests$,
          ms === undefined ? NEVER : timer(Math.min(ms, longestTimer), scheduler),
        );
      };
      return merge(heard$, run$.pipe(repeat({ delay: next$ })));
    });
}
