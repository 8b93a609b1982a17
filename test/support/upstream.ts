import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Answers each request by `upstream`. */
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
 * On a port that is free. It has a thread of its own: what a test is busy with does not delay it.
 */
export async function startUpstream(): Promise<Upstream> {
  const worker = new Worker(program, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  return { port, close: () => worker.terminate() };
}
