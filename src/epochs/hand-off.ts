// Why: docs/decisions/015-a-replaced-envoy-hands-off.md
import {
  asyncScheduler,
  concat,
  EMPTY,
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
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Sends the clients of an epoch elsewhere, then emits `epoch-handed-off` once and completes. The
 * epoch drains gracefully for 1 s, then its listeners close, so that new clients reach only its
 * neighbour. Then this waits for the requests in flight, as long as for those of a parent.
 *
 * If the clients go to a successor, nobody takes new clients until it is up. So the listeners stay
 * open until nothing is in flight, at most as long as for a parent; then this waits 1 s more for
 * what is still in flight.
 *
 * If the admin endpoint does not answer, the epoch cannot drain: the event says `unresponsive`, at
 * once. Completes without an event if the epoch ends. Errors only if the proxy does.
 */
export function handOff(
  { epoch, to }: Pick<Extract<Effect, { type: 'hand-off' }>, 'epoch' | 'to'>,
  proxy: Pick<Proxy, 'health' | 'drain' | 'active'>,
  events$: Observable<AgentEvent>,
  { gracefulDrain, poll, parentShutdown }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  const idle$ = timer(0, poll, scheduler).pipe(
    exhaustMap(() => proxy.active(epoch)),
    filter((count) => count === 0),
  );
  function idleWithin(limit: number): Observable<unknown> {
    return merge(idle$, timer(limit, scheduler)).pipe(take(1));
  }
  const handOff$ = concat(
    proxy.drain(epoch, 'graceful'),
    timer(gracefulDrain, scheduler).pipe(ignoreElements()),
    to === 'successor' ? idleWithin(parentShutdown).pipe(ignoreElements()) : EMPTY,
    proxy.drain(epoch, 'close'),
    idleWithin(to === 'successor' ? gracefulDrain : parentShutdown),
  ).pipe(map((): AgentEvent => ({ type: 'epoch-handed-off', epoch, unresponsive: false })));
  return proxy.health(epoch).pipe(
    take(1),
    switchMap((health) =>
      health === 'live' || health === 'up'
        ? handOff$
        : of<AgentEvent>({ type: 'epoch-handed-off', epoch, unresponsive: true }),
    ),
    takeUntil(endOf(epoch, events$)),
  );
}
