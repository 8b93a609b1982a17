import {
  asyncScheduler,
  defer,
  filter,
  map,
  merge,
  NEVER,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs';
import { longestTimer } from './longest-timer.ts';

/** Time between two looks at the clock. In ms. */
const look = 60_000;

/**
 * Emits 0 once and completes: after `delay` ms, or up to a minute after the clock shows that
 * `delay` is over, whichever is earlier. While a machine is suspended its timers stand still, but
 * its clock does not. Cold; never errors.
 */
export function clockTimer(
  delay: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<0> {
  return defer(() => {
    const start = scheduler.now();
    const due$ = timer(look, look, scheduler).pipe(filter(() => scheduler.now() - start >= delay));
    const exact$ = delay > longestTimer ? NEVER : timer(delay, scheduler);
    return merge(exact$, due$).pipe(
      take(1),
      map(() => 0 as const),
    );
  });
}
