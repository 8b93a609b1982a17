// Why: docs/decisions/023-the-first-event-opens-the-window.md
import { asyncScheduler, auditTime, type MonoTypeOperatorFunction, type SchedulerLike } from 'rxjs';

/**
 * Opens a window of `minDelay` ms at the first value, and emits the latest value when it closes.
 *
 * Unlike with `debounceTime`, a steady trickle of values cannot postpone the emission forever: this
 * is the window of the Go agent (1.1–1.6, `watchFileEvents`). If a value is pending when the source
 * completes, it is emitted at the end of its window.
 */
export function coalesce<T>(
  minDelay: number,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  return auditTime(minDelay, scheduler);
}
