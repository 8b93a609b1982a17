import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LiveEvent } from '../../../src/pilot-agent/report/live-events.ts';
import { controlGuard, insideGuard } from '../../../src/shared/http/control-guard.ts';
import { page } from '../../../src/pilot-agent/status/page.ts';

/** A status port that answers as the real one, of an agent whose events a test tells. */
export interface FakeStatus {
  readonly url: string;
  readonly port: number;
  /** What has been asked of the agent. */
  readonly orders: readonly string[];
  /** How many listen. */
  listening(): number;
  /** To all that listen. */
  tell(...events: readonly LiveEvent[]): void;
  /** Ends the connections of all that listen. */
  hangUp(): void;
  close(): Promise<void>;
}

const pathOf = (url = '') => url.replace(/\?.*/s, '');

/**
 * Serves on a port, on one that is free if it is 0. `now` is what each new listener is told first.
 */
export async function fakeStatus(now: () => readonly LiveEvent[], port = 0): Promise<FakeStatus> {
  const listeners = new Set<ServerResponse>();
  const orders: string[] = [];
  const handler = page();
  const write = (response: ServerResponse, events: readonly LiveEvent[]) =>
    response.write(
      events
        .map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
        .join(''),
    );
  const server = createServer((request, response) => {
    const path = pathOf(request.url);
    const refusal = request.method === 'POST' ? controlGuard(request) : insideGuard(request);
    if (refusal !== undefined) response.writeHead(refusal[0]).end(refusal[1]);
    else if (request.method === 'POST') {
      orders.push(path);
      response.end('OK\n');
    } else if (path === '/')
      handler(request, response).subscribe({ error: () => response.writeHead(500).end() });
    else if (path !== '/debug/events') response.writeHead(404).end('404 page not found\n');
    else if (listeners.size >= 4) response.writeHead(503).end('Four listen already\n');
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      listeners.add(response);
      response.once('close', () => listeners.delete(response));
      write(response, now());
    }
  });
  await new Promise<void>((done, fail) =>
    server.once('error', fail).listen(port, '127.0.0.1', done),
  );
  // An agent tells something each second; a page takes 10 s of silence for an agent that is away.
  const beats = setInterval(() => listeners.forEach((response) => response.write(':\n\n')), 1_000);
  const ownPort = (server.address() as AddressInfo).port;
  return {
    url: `http://localhost:${ownPort}/`,
    port: ownPort,
    orders,
    listening: () => listeners.size,
    tell: (...events) => listeners.forEach((response) => write(response, events)),
    hangUp: () => listeners.forEach((response) => response.destroy()),
    close: () =>
      new Promise((done) => {
        clearInterval(beats);
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
