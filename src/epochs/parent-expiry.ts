import { concat, type Observable, type SchedulerLike } from 'rxjs';
import { eventAfter } from './event-after.ts';
import type { AgentEvent } from './model.ts';
import type { Timing } from './timing.ts';

/**
 * Emits `parent-expiring` before the moment at which Envoy asks its parent to end, and
 * `parent-expired` after it, then completes. There is a margin, because the agent sees LIVE late,
 * and a parent takes a while to end.
 */
export function parentExpiry(
  epoch: number,
  { parentShutdown, parentMargin }: Timing,
  scheduler: SchedulerLike,
): Observable<AgentEvent> {
  return concat(
    eventAfter(
      Math.max(0, parentShutdown - parentMargin),
      { type: 'parent-expiring', epoch },
      scheduler,
    ),
    eventAfter(
      Math.min(parentShutdown, parentMargin) + parentMargin,
      { type: 'parent-expired', epoch },
      scheduler,
    ),
  );
}
