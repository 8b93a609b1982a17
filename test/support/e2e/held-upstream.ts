import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server behind Envoy. Its answers wait until {@link HeldUpstream.open} is called. */
export interface HeldUpstream {
  readonly port: number;
  /** Resolves when the next request arrives. */
  asked(): Promise<unknown>;
  /**
   * Answers all waiting requests, and from now on each new one at once, with {@link heldAnswer}.
   */
  open(): void;
  /** Makes answers wait from now on. */
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
