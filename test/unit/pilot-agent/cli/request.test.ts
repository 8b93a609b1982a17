import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Fatal } from '../../../../src/shared/program/exit.ts';
import { request, type RequestOptions } from '../../../../src/pilot-agent/cli/request.ts';

type Listener = (error: Error) => void;

describe('request', () => {
  let folder: string;
  let server: Server;
  let port: string;
  let status: number;
  let answer: string;
  let received: readonly string[];
  let printed: string;
  let before: readonly Listener[];

  const run = (
    method: string,
    path: string,
    body?: string,
    options: Partial<RequestOptions> = { port },
  ) => request(method, path, body, { configPath: folder, ...options });

  beforeEach(async () => {
    [status, answer, received, printed] = [200, 'fine', [], ''];
    folder = mkdtempSync(join(tmpdir(), 'request-'));
    server = createServer((incoming, response) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      incoming.on('end', () => {
        received = [incoming.method ?? '', incoming.url ?? '', body];
        response.writeHead(status).end(answer);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = String((server.address() as AddressInfo).port);
    vi.spyOn(process.stdout, 'write').mockImplementation((text: unknown, done: unknown) => {
      printed += String(text);
      (done as () => void)();
      return true;
    });
    before = process.stdout.listeners('error') as Listener[];
  });
  afterEach(() => {
    vi.restoreAllMocks();
    const left = process.stdout.listeners('error') as Listener[];
    // A program leaves these listeners at its end, which does no harm there.
    for (const listener of left)
      if (!before.includes(listener)) process.stdout.off('error', listener);
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  it.each<{ what: string; args: readonly [string, string, string?]; arrives: readonly string[] }>([
    {
      what: 'POST with a body',
      args: ['POST', '/want/path', 'body'],
      arrives: ['POST', '/want/path', 'body'],
    },
    {
      what: 'a path without its slash',
      args: ['POST', 'want/path', 'body'],
      arrives: ['POST', '/want/path', 'body'],
    },
    {
      what: 'GET without a body',
      args: ['GET', '/want/path', ''],
      arrives: ['GET', '/want/path', ''],
    },
    {
      what: 'a query',
      args: ['GET', 'stats?filter=^a%2E&usedonly'],
      arrives: ['GET', '/stats?filter=^a%2E&usedonly', ''],
    },
    {
      what: 'a method in small letters',
      args: ['post', 'logging?level=debug'],
      arrives: ['POST', '/logging?level=debug', ''],
    },
    {
      what: 'what a path can not have in it',
      args: ['GET', 'stats?filter=a ü'],
      arrives: ['GET', '/stats?filter=a%20%C3%BC', ''],
    },
    { what: 'no path', args: ['GET', ''], arrives: ['GET', '/', ''] },
    { what: 'two slashes', args: ['GET', '//a'], arrives: ['GET', '//a', ''] },
  ])(
    '$what arrives, and the answer is printed with a line break, and nothing else',
    async ({ args: [method, path, body], arrives }) => {
      await run(method, path, body);
      expect(received).toEqual(arrives);
      expect(printed).toBe('fine\n');
    },
  );

  it('prints the answer of a 404', async () => {
    [status, answer] = [404, 'not-found'];
    await run('GET', 'nothing');
    expect(printed).toBe('not-found\n');
  });

  it.each([400, 403, 405, 500, 503])(
    'ends with 1 for a status of %d, and says what Envoy says',
    async (refusal) => {
      [status, answer] = [refusal, 'method not\nallowed'];
      await expect(run('GET', 'x')).rejects.toEqual(
        new Fatal(`received unsuccessful status code ${refusal}: method not\nallowed`, 1),
      );
      expect(printed).toBe('');
    },
  );

  it('ends with 69 if Envoy is not there', async () => {
    await expect(run('GET', 'x', undefined, { port: '1' })).rejects.toEqual(
      new Fatal(
        "Envoy's admin endpoint does not answer: connect ECONNREFUSED 127.0.0.1:1: start an agent, or name the admin port of one by --port",
        69,
      ),
    );
  });

  it('asks where the running Envoy has written down that it is', async () => {
    writeFileSync(join(folder, 'envoy-admin-address'), `127.0.0.1:${port}`);
    await run('GET', 'x', undefined, {});
    expect(printed).toBe('fine\n');
  });

  it('asks on the port that is given, whatever is written down', async () => {
    writeFileSync(join(folder, 'envoy-admin-address'), '127.0.0.1:1');
    await run('GET', 'x', undefined, { port });
    expect(printed).toBe('fine\n');
  });

  it.each<{ what: string; args: Parameters<typeof run>; why: string }>([
    { what: 'a method', args: ['PUT', 'x'], why: "method: 'PUT' is not GET or POST" },
    { what: 'no method', args: ['', 'x'], why: "method: '' is not GET or POST" },
    ...['0', '65536', 'x', '-1', '1.5', ''].map((bad) => ({
      what: `the port "${bad}"`,
      args: ['GET', 'x', undefined, { port: bad }] as Parameters<typeof run>,
      why: `--port: '${bad}' is not a port (1 to 65535)`,
    })),
  ])('refuses $what with 64', async ({ args, why }) => {
    await expect(run(...args)).rejects.toEqual(new Fatal(why, 64));
  });

  it('is content if nobody reads its answer to the end', async () => {
    vi.spyOn(process.stdout, 'write').mockImplementation(() => {
      process.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return false;
    });
    await run('GET', 'x');
  });
});
