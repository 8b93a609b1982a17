import type { Socket } from 'node:net';
import type { SchedulerLike, Subscription } from 'rxjs';

export interface ConnectionBounds {
  /** How many there may be in all. */
  readonly most: number;
  /** How long one may ask for nothing, in ms, and how many may. */
  readonly silence: { readonly longest: number; readonly most: number };
}

/** The connections of a server. */
export interface BoundedConnections {
  /** A client has connected: it is admitted, or its connection is closed. */
  readonly add: (socket: Socket) => void;
  /** A client has asked for something; `address` is `IP:port`. */
  readonly asked: (address: string) => void;
}

/**
 * Bounds the connections of a server. One on which nothing is asked for in time is closed. If there
 * are too many, or too many that say nothing, the oldest one goes on which nothing has been asked
 * for yet: those who hold connections and say nothing keep nobody away. If all have asked, the new
 * one goes.
 *
 * @param tell gets the address of each connection that is closed, and why
 */
export function boundedConnections(
  { most, silence }: ConnectionBounds,
  admit: (socket: Socket) => void,
  tell: (address: string, reason: string) => void,
  scheduler: SchedulerLike,
): BoundedConnections {
  let count = 0;
  const silent = new Map<string, { readonly socket: Socket; readonly due: Subscription }>(); // the oldest first
  const heard = (address: string): void => {
    silent.get(address)?.due.unsubscribe();
    silent.delete(address);
  };
  const close = (address: string, socket: Socket, reason: string): void => {
    heard(address);
    tell(address, reason);
    socket.destroy();
  };
  return {
    add: (socket) => {
      const address = `${socket.remoteAddress}:${socket.remotePort}`;
      const full = `${most} connections are open, which is the limit`;
      const [oldest] = silent;
      if (count >= most && oldest === undefined) {
        tell(address, full);
        socket.destroy();
        return;
      }
      if (oldest !== undefined && (count >= most || silent.size >= silence.most)) {
        const later = `nothing was asked for on the connection, and ${silence.most} have come since`;
        close(oldest[0], oldest[1].socket, count >= most ? full : later);
      }
      count += 1;
      const due = scheduler.schedule(
        () =>
          close(
            address,
            socket,
            `nothing was asked for on the connection within ${silence.longest / 1_000} s`,
          ),
        silence.longest,
      );
      silent.set(address, { socket, due });
      socket.once('close', () => {
        count -= 1;
        if (silent.get(address)?.socket === socket) heard(address);
      });
      admit(socket);
    },
    asked: heard,
  };
}
