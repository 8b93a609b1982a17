import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A server that answers each request with `upstream`. */
export interface Upstream {
  readonly port: number;
  close(): Promise<unknown>;
}

const program = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:http').createServer((_, response) => response.end('upstream'));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/**
 * Starts one on a free port, in a thread of its own, so that a busy test does not delay its
 * answers.
 */
export async function startUpstream(): Promise<Upstream> {
  const worker = new Worker(program, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  return { port, close: () => worker.terminate() };
}
