import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Passes connections on. */
export interface Relay {
  /** Takes connections from now on. */
  open(): Promise<void>;
  /** Refuses connections from now on, and ends those that it has. */
  close(): Promise<void>;
}

/** From a port of this machine or a Unix socket to another: a number is a port, a text a path. */
export function makeRelay(from: number | string, to: number | string): Relay {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket) && other.destroySoon());
  };
  return {
    async open() {
      server = createServer({ allowHalfOpen: false, noDelay: true }, (taken) => {
        const made = connect({ ...placeOf(to), noDelay: true });
        keep(taken, made);
        keep(made, taken);
        taken.pipe(made).pipe(taken);
      });
      server.listen(placeOf(from));
      await once(server, 'listening');
    },
    async close() {
      const closed = server === undefined ? Promise.resolve() : once(server, 'close');
      server?.close();
      server = undefined;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const placeOf = (place: number | string) => (typeof place === 'number' ? { host: '127.0.0.1', port: place } : { path: place });
