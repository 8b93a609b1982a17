import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers each request by `upstream`. */
export interface Upstream {
  readonly port: number;
  close(): Promise<void>;
}

/** On a port that is free. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((_, response) => void response.end('upstream')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
