import { map, type Observable, type SchedulerLike, timer } from 'rxjs';
import type { AgentEvent } from './model.ts';

/** Emits `event` once after `delay` ms, and completes. */
export function eventAfter(
  delay: number,
  event: AgentEvent,
  scheduler: SchedulerLike,
): Observable<AgentEvent> {
  return timer(delay, scheduler).pipe(map(() => event));
}
