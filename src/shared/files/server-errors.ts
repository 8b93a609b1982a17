import type { Server } from 'node:net';
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** The callbacks for the errors of a server. */
export interface ServerTrouble {
  /** It cannot listen. */
  readonly failed: (reason: string) => void;
  /** It could not accept a connection. It still listens. */
  readonly notTaken: (reason: string) => void;
}

/** Time between two reports of the same reason. In ms. */
const pause = 60_000;

/**
 * Reports the errors of a server: why it cannot listen, and later why it cannot accept connections,
 * each reason at most once a minute. A server that listens goes on after any error: if the process
 * has no file descriptors left, or the kernel no buffers, the next connection may be accepted
 * again.
 */
export function reportServerErrors(
  server: Server,
  { failed, notTaken }: ServerTrouble,
  scheduler: SchedulerLike = asyncScheduler,
): void {
  const loggedAt = new Map<string, number>();
  server.on('error', ({ message: reason }) => {
    if (!server.listening) {
      failed(reason);
      return;
    }
    const now = scheduler.now();
    if (now - (loggedAt.get(reason) ?? -pause) < pause) return;
    loggedAt.set(reason, now);
    notTaken(reason);
  });
}
