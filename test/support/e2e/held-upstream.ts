import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server behind Envoy whose answers wait from the start, until it is opened. */
export interface HeldUpstream {
  readonly port: number;
  /** Resolves when the next request has come. */
  asked(): Promise<unknown>;
  /** Answers all that wait, with {@link heldAnswer}, and from now on whoever asks. */
  open(): void;
  /** From now on answers wait. */
  hold(): void;
  close(): void;
}

export const heldAnswer = 'slow but whole';

export async function heldUpstream(): Promise<HeldUpstream> {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const server = createServer((request, response) => {
    waiting.push(() => response.end(heldAnswer));
    request.resume();
    if (isOpen) open();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  function open(): void {
    isOpen = true;
    for (const answer of waiting.splice(0)) answer();
  }
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => once(server, 'request'),
    open,
    hold: () => (isOpen = false),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
