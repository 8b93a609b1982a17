import type { Socket } from 'node:net';
import type { SchedulerLike, Subscription } from 'rxjs';

export interface ConnectionBounds {
  /** The largest number of connections. */
  readonly most: number;
  /**
   * How long a connection may have no request, in ms; and how many such connections there may be.
   */
  readonly silence: { readonly longest: number; readonly most: number };
}

/** The connections of a server. */
export interface BoundedConnections {
  /** Hands a new client to `admit`, or closes its connection. */
  readonly add: (socket: Socket, admit: (socket: Socket) => void) => void;
  /** Notes a request of the client at `address`, which is `IP:port`. */
  readonly noteServed: (address: string) => void;
  /** Closes the connection of the client at `address` at once: what is unsent is lost. */
  readonly cut: (address: string) => void;
}

/**
 * Bounds the connections of a server. A connection without a request in time is closed. If there
 * are too many connections, or too many without a request, the oldest one without a request is
 * closed: clients that connect and send nothing do not keep others away. If each connection has had
 * a request, the new one is closed.
 *
 * @param tell gets the address of each closed connection, and the reason
 */
export function boundedConnections(
  { most, silence }: ConnectionBounds,
  tell: (address: string, reason: string) => void,
  scheduler: SchedulerLike,
): BoundedConnections {
  const open = new Map<string, Socket>();
  // The oldest connection is first.
  const silent = new Map<string, { readonly socket: Socket; readonly due: Subscription }>();
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
    add: (socket, admit) => {
      const address = `${socket.remoteAddress}:${socket.remotePort}`;
      const full = `${most} connections are open, which is the limit`;
      const [oldest] = silent;
      if (open.size >= most && oldest === undefined) {
        tell(address, full);
        socket.destroy();
        return;
      }
      if (oldest !== undefined && (open.size >= most || silent.size >= silence.most)) {
        const later = `nothing was asked for on the connection, and ${silence.most} have come since`;
        close(oldest[0], oldest[1].socket, open.size >= most ? full : later);
      }
      open.set(address, socket);
      const reason = `nothing was asked for on the connection within ${silence.longest / 1_000} s`;
      // If the program was busy, it first reads the requests that have come meanwhile.
      const due = scheduler.schedule(() => {
        due.add(scheduler.schedule(() => close(address, socket, reason)));
      }, silence.longest);
      silent.set(address, { socket, due });
      socket.once('close', () => {
        if (open.get(address) === socket) open.delete(address);
        if (silent.get(address)?.socket === socket) heard(address);
      });
      admit(socket);
    },
    noteServed: heard,
    cut: (address) => open.get(address)?.destroy(),
  };
}
