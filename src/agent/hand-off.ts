import {
  asyncScheduler,
  concat,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import { endOf } from './follow.ts';
import type { AgentEvent } from './model.ts';
import type { Proxy } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Sends the clients of an epoch elsewhere that another one has replaced side by side, then emits
 * `epoch-handed-off` once and completes. The epoch drains gracefully for 1 s, then its listeners
 * close, so that new clients reach the other one alone. What is in flight is waited for as long as
 * that of a parent. Where the admin endpoint does not answer the epoch cannot drain:
 * `unresponsive`, at once.
 *
 * Completes without a word when the epoch ends. Never errors if the proxy does not.
 */
export function handOff(
  epoch: number,
  proxy: Pick<Proxy, 'health' | 'drain' | 'active'>,
  events$: Observable<AgentEvent>,
  { gracefulDrain, poll, parentShutdown }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  const idle$ = timer(0, poll, scheduler).pipe(
    exhaustMap(() => proxy.active(epoch)),
    filter((count) => count === 0),
  );
  const handOff$ = concat(
    proxy.drain(epoch, true),
    timer(gracefulDrain, scheduler).pipe(ignoreElements()),
    proxy.drain(epoch, false),
    merge(idle$, timer(parentShutdown, scheduler)).pipe(take(1)),
  ).pipe(map((): AgentEvent => ({ type: 'epoch-handed-off', epoch, unresponsive: false })));
  return proxy.health(epoch).pipe(
    take(1),
    switchMap((health) =>
      health === 'live' || health === 'up' ? handOff$ : of<AgentEvent>({ type: 'epoch-handed-off', epoch, unresponsive: true }),
    ),
    takeUntil(endOf(epoch, events$)),
  );
}
