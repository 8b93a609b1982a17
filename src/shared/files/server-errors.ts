import type { Server } from 'node:net';
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Who hears of the errors of a server. */
export interface ServerTrouble {
  /** It cannot listen. */
  readonly failed: (reason: string) => void;
  /** It could not take a connection. It listens all the same. */
  readonly notTaken: (reason: string) => void;
}

/** Between two reports of the same reason. In ms. */
const pause = 60_000;

/**
 * Tells the errors of a server: why it cannot listen, and later why it cannot take connections,
 * each reason once a minute at most. A server that listens goes on after any error: if the process
 * has no file descriptors left, or the kernel no buffers, the next connection may be taken again.
 */
export function tellErrors(
  server: Server,
  { failed, notTaken }: ServerTrouble,
  scheduler: SchedulerLike = asyncScheduler,
): void {
  const toldAt = new Map<string, number>();
  server.on('error', ({ message: reason }) => {
    if (!server.listening) {
      failed(reason);
      return;
    }
    const now = scheduler.now();
    if (now - (toldAt.get(reason) ?? -pause) < pause) return;
    toldAt.set(reason, now);
    notTaken(reason);
  });
}
