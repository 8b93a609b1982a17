import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A relay of connections. */
export interface Relay {
  /** Relays connections from now on, also those that wait. */
  open(): Promise<void>;
  /** Ends its connections. Accepts new ones, which wait until `open`. */
  hold(): Promise<void>;
  /** Relays no more bytes over its connections, but does not end those of the clients. */
  silence(): void;
  /** Refuses connections from now on, and ends its connections. */
  close(): Promise<void>;
}

/** A port of this machine; the path of a Unix socket; or `address:port`. */
export type Place = number | string;

export function makeRelay(from: Place, to: Place): Relay {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket) && other.destroySoon());
  };
  const waiting: Socket[] = [];
  let isHeld = false;
  const passed = new Map<Socket, Socket>();
  const pass = (client: Socket) => {
    const upstream = connect({ ...placeOf(to), noDelay: true });
    keep(client, upstream);
    keep(upstream, client);
    passed.set(client, upstream);
    client.on('close', () => passed.delete(client));
    client.pipe(upstream).pipe(client);
  };
  const relay: Relay = {
    async open() {
      isHeld = false;
      for (const client of waiting.splice(0)) pass(client);
      if (server !== undefined) return;
      server = createServer({ allowHalfOpen: false, noDelay: true }, (client) => {
        if (isHeld) waiting.push(client.on('error', () => undefined));
        else pass(client);
      });
      server.listen(placeOf(from));
      await once(server, 'listening');
    },
    async hold() {
      await relay.open();
      isHeld = true;
      for (const socket of sockets) socket.destroy();
    },
    silence() {
      for (const [client, upstream] of passed) {
        client.unpipe(upstream).resume();
        upstream.unpipe(client).removeAllListeners('close').destroy();
        sockets.delete(upstream);
      }
      passed.clear();
    },
    async close() {
      for (const client of waiting.splice(0)) client.destroy();
      const closed = server === undefined ? Promise.resolve() : once(server, 'close');
      server?.close();
      server = undefined;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return relay;
}

function placeOf(place: Place) {
  if (typeof place === 'number') return { host: '127.0.0.1', port: place };
  const [host, port] = place.split(':');
  return port === undefined ? { path: place } : { host, port: Number(port) };
}
