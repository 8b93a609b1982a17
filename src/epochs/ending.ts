// Why: docs/decisions/012-a-parents-time-counts-from-live.md
import { concat, ignoreElements, map, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import type { Proxy, Signal } from './ports.ts';
import type { Timing } from './timing.ts';

/** A process that must end. */
export interface Leaving {
  readonly epoch: number;
  /** Who wants it to end. An Envoy that ends has asked its parent to end too. */
  readonly requester: 'agent' | 'child';
}

/**
 * Closes the listeners of a process, which turns new clients away instead of cutting them. Then
 * emits the signals to send: SIGTERM, and SIGKILL if the process stays. The subscriber unsubscribes
 * when the process has ended. Errors if the drain does.
 *
 * An Envoy that ends asks its parent to end too. Such a parent gets a SIGTERM only if it stays: a
 * second request in its last moments would kill it before it writes its access log.
 */
export function ending(
  { epoch, requester }: Leaving,
  proxy: Pick<Proxy, 'drain'>,
  { killAfter }: Pick<Timing, 'killAfter'>,
  scheduler: SchedulerLike,
): Observable<Signal> {
  const timeout$ = timer(killAfter, scheduler);
  return concat(
    requester === 'child' ? timeout$.pipe(ignoreElements()) : proxy.drain(epoch, 'close'),
    of<Signal>('SIGTERM'),
    timeout$.pipe(map((): Signal => 'SIGKILL')),
  );
}
