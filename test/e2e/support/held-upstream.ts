import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server behind Envoy whose answers wait. */
export interface HeldUpstream {
  readonly port: number;
  /** Resolves when the next request has come. */
  asked(): Promise<unknown>;
  /** Answers all that wait, with {@link heldAnswer}. */
  answerAll(): void;
  close(): void;
}

export const heldAnswer = 'slow but whole';

export async function heldUpstream(): Promise<HeldUpstream> {
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    waiting.push(() => response.end(heldAnswer));
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => once(server, 'request'),
    answerAll: () => waiting.splice(0).forEach((answer) => answer()),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
