import { once } from 'node:events';
import { createServer } from 'node:net';

/** Resolves to `wanted`, or the first port after it on which nobody listens. */
export async function firstFreePort(wanted: number): Promise<number> {
  let port = wanted;
  while (!(await isFree(port))) port += 1;
  return port;
}

/**
 * Tries to listen on all addresses, as the status server does. Rejects if it fails for another
 * reason than a port in use.
 */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port), 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
