// Why: docs/decisions/012-a-parents-time-counts-from-live.md
import { concat, ignoreElements, map, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import type { Proxy, Signal } from './ports.ts';
import type { Timing } from './timing.ts';

/** A process that is to end. */
export interface Leaving {
  readonly epoch: number;
  /** Its child has asked it to end. */
  readonly toldByChild: boolean;
}

/**
 * Closes the listeners of a process, which turns new clients away instead of cutting them, and
 * emits what is then sent to it: SIGTERM, and SIGKILL if it stays. Whoever sees its end
 * unsubscribes. Errors if the drain does.
 *
 * One that its child has asked already (Envoy does that when it ends) gets a SIGTERM only if it
 * stays: a second one in its last moments would kill it before its access log is written.
 */
export function ending(
  { epoch, toldByChild }: Leaving,
  proxy: Pick<Proxy, 'drain'>,
  { killAfter }: Pick<Timing, 'killAfter'>,
  scheduler: SchedulerLike,
): Observable<Signal> {
  const timeout$ = timer(killAfter, scheduler);
  return concat(
    toldByChild ? timeout$.pipe(ignoreElements()) : proxy.drain(epoch, 'close'),
    of<Signal>('SIGTERM'),
    timeout$.pipe(map((): Signal => 'SIGKILL')),
  );
}
