import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveEvent } from '../../src/pilot-agent/report/live-events.ts';

/** A server that answers instead of an agent, on the socket in its folder. */
export interface FakeStatus {
  /** The `--configPath` of the agent. */
  readonly folder: string;
  /** `METHOD path` of each request. */
  readonly requests: readonly string[];
  /**
   * Sets the answer to a path from now on. Without it, `/debug/events` sends the events, and each
   * other path gets 404.
   */
  answer(path: string, status: number, body: string): void;
  /**
   * Sends events to all clients of `/debug/events`. Clients that connect later receive them first.
   */
  send(...events: readonly LiveEvent[]): void;
  /** Closes all connections, and the socket. */
  leave(): Promise<void>;
  /** Listens again, without the events that it sent before. */
  comeBack(): Promise<void>;
  dispose(): Promise<void>;
}

export async function fakeStatus(
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-status-')),
): Promise<FakeStatus> {
  const requests: string[] = [];
  const answers = new Map<string, readonly [number, string]>();
  const listeners = new Set<ServerResponse>();
  const sentTexts: string[] = [];
  const handle = ({ method = '', url = '' }: IncomingMessage, response: ServerResponse) => {
    requests.push(`${method} ${url}`);
    if (url === '/debug/events' && !answers.has(url)) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sentTexts.join(''));
      listeners.add(response);
      return;
    }
    const [status, body] = answers.get(url) ?? [404, '404 page not found'];
    response.writeHead(status).end(body);
  };
  const listen = async () => {
    const server = createServer(handle).listen(join(folder, 'status'));
    await once(server, 'listening');
    return server;
  };
  let server = await listen();
  const fake: FakeStatus = {
    folder,
    requests,
    answer: (path, status, body) => void answers.set(path, [status, body]),
    send(...events) {
      const text = events.map(
        ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
      );
      sentTexts.push(...text);
      for (const listener of listeners) listener.write(text.join(''));
    },
    async leave() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async comeBack() {
      sentTexts.length = 0;
      server = await listen();
    },
    async dispose() {
      if (server.listening) await fake.leave();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return fake;
}
