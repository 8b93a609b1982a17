import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LiveEvent } from '../../../src/pilot-agent/report/live-events.ts';
import { controlGuard, insideGuard } from '../../../src/shared/http/control-guard.ts';
import { page } from '../../../src/pilot-agent/status/page.ts';

/** A status port that answers as the real one, for an agent whose events a test sends. */
export interface FakeStatus {
  readonly url: string;
  readonly port: number;
  /** The paths of the POST requests that it accepted. */
  readonly orders: readonly string[];
  /** Returns the number of clients that receive events. */
  listening(): number;
  /** Sends events to all these clients. */
  tell(...events: readonly LiveEvent[]): void;
  /** Ends the connections of all these clients. */
  hangUp(): void;
  close(): Promise<void>;
}

const pathOf = (url = '') => url.replace(/\?.*/s, '');

/**
 * Starts one on a port, or on a free port if that is 0. `now` returns the events that each new
 * client receives first.
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
  // An agent sends something each second; after 10 s of silence a page shows the agent as away.
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
