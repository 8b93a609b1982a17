import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createRawServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, type Observable, toArray, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adminClient } from '../../../src/proxy/admin-client.ts';
import { freePorts } from '../../support/free-ports.ts';

const all = <T>(answer$: Observable<T>) =>
  lastValueFrom(answer$.pipe(toArray()), { defaultValue: [] });
const only = async <T>(answer$: Observable<T>) =>
  (await all(answer$))[0] ?? expect.unreachable('no answer');

describe('adminClient', () => {
  let folder: string;
  let file: string;
  let ports: number[];
  let servers: Server[];

  const port = (index: number) => ports[index] ?? expect.unreachable('no port');
  const write = (address: string) => writeFileSync(file, address);
  /** Starts a server that answers with its name and the request. */
  const start = async (
    portOrPath: number | string,
    name: string,
    listener?: RequestListener,
  ): Promise<Server> => {
    const server = createServer(
      listener ??
        ((request, response) =>
          response.end(`${name} ${request.method ?? ''} ${request.url ?? ''}`)),
    );
    servers.push(server);
    if (typeof portOrPath === 'string') server.listen(portOrPath);
    else server.listen(portOrPath, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const client = () => adminClient(file, port(0));
  const get = (admin: ReturnType<typeof adminClient>, path = '/') =>
    only(admin.request('GET', path));
  const body = async (admin: ReturnType<typeof adminClient>) => {
    const answer = await get(admin, '/x');
    return answer.ok ? answer.value.body : 'failed';
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'admin-client-'));
    file = join(folder, 'address');
    ports = await freePorts(2);
    servers = [];
  });
  afterEach(() => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    rmSync(folder, { recursive: true });
  });

  it('asks when it is subscribed to, emits one answer, and completes', async () => {
    let requestCount = 0;
    await start(port(0), 'a', (_, response) => response.writeHead(503).end(`no ${++requestCount}`));
    const answer$ = client().request('GET', '/ready');
    expect(await all(answer$)).toEqual([{ ok: true, value: { status: 503, body: 'no 1' } }]);
    expect(await all(answer$)).toEqual([{ ok: true, value: { status: 503, body: 'no 2' } }]);
  });

  it.each(['GET', 'POST'] as const)('sends %s with its path and query', async (method) => {
    await start(port(0), 'a');
    const answer = await only(client().request(method, '/drain_listeners?graceful&skip_exit'));
    expect(answer).toEqual({
      ok: true,
      value: { status: 200, body: `a ${method} /drain_listeners?graceful&skip_exit` },
    });
  });

  it.each([
    { method: 'POST', text: 'schlüssel', length: '10' },
    { method: 'GET', text: 'schlüssel', length: '10' },
    { method: 'POST', text: '', length: '0' },
    { method: 'GET', text: '', length: undefined },
  ] as const)('sends "$text" with $method, and its length', async ({ method, text, length }) => {
    await start(port(0), 'a', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () =>
        response.end(
          `${String(request.headers['content-length'])} ${Buffer.concat(pieces).toString()}`,
        ),
      );
    });
    const answer = await only(client().request(method, '/', undefined, text));
    expect(answer).toMatchObject({ value: { body: `${String(length)} ${text}` } });
  });

  it('puts an answer together that comes in pieces, within a character too', async () => {
    const text = Buffer.from('schlüssel');
    await start(port(0), 'a', (_, response) => {
      response.write(text.subarray(0, 5));
      setImmediate(() => response.end(text.subarray(5)));
    });
    expect(await body(client())).toBe('schlüssel');
  });

  it('uses one connection for questions that come one after the other', async () => {
    const server = await start(port(0), 'a');
    let connections = 0;
    server.on('connection', () => (connections += 1));
    const admin = client();
    for (let count = 0; count < 5; count++) expect((await get(admin)).ok).toBe(true);
    expect(connections).toBe(1);
  });

  it('asks who answers over a new connection each time, since one that is kept leads to the epoch before', async () => {
    let connections = 0;
    (await start(port(0), 'a')).on('connection', () => connections++);
    const admin = client();
    for (const path of ['/ready', '/server_info', '/server_info', '/ready']) await get(admin, path);
    expect(connections).toBe(3);
  });

  it('asks on the fallback port until there is an address', async () => {
    await Promise.all([start(port(0), 'fallback'), start(port(1), 'written')]);
    const admin = client();
    expect(admin.located()).toBe(false);
    expect(await body(admin)).toBe('fallback GET /x');
    write(`127.0.0.1:${port(1)}`);
    expect(admin.located()).toBe(true);
    expect(await body(admin)).toBe('written GET /x');
  });

  it.each(['', 'nonsense', '127.0.0.1', '127.0.0.1:', ':15000', 'relative/path'])(
    'takes "%s" for no address',
    async (text) => {
      await start(port(0), 'fallback');
      write(text);
      const admin = client();
      expect(admin.located()).toBe(false);
      expect(await body(admin)).toBe('fallback GET /x');
    },
  );

  it.each([
    { what: 'an address', address: (number: number) => `127.0.0.1:${number}` },
    {
      what: 'an address with a line break behind it',
      address: (number: number) => `127.0.0.1:${number}\n`,
    },
    { what: 'all interfaces', address: (number: number) => `0.0.0.0:${number}` },
  ])('asks where Envoy has written that it is: $what', async ({ address }) => {
    await start(port(1), 'written');
    write(address(port(1)));
    expect(await body(client())).toBe('written GET /x');
  });

  it('asks on a socket with a path', async () => {
    const socket = join(folder, 'admin.sock');
    await start(socket, 'socket');
    write(`${socket}\n`);
    const admin = client();
    expect(admin.located()).toBe(true);
    expect(await body(admin)).toBe('socket GET /x');
  });

  it('asks where the file leads, as soon as it leads elsewhere', async () => {
    await Promise.all([start(port(0), 'first'), start(port(1), 'second')]);
    write(`127.0.0.1:${port(0)}`);
    const admin = client();
    expect(await body(admin)).toBe('first GET /x');
    rmSync(file); // as after a rename, another file takes its place
    write(`127.0.0.1:${port(1)}`);
    expect(await body(admin)).toBe('second GET /x');
  });

  it('stays where it was while an address is being written', async () => {
    await start(port(0), 'first');
    write(`127.0.0.1:${port(0)}`);
    const admin = client();
    expect(await body(admin)).toBe('first GET /x');
    write('');
    expect(await body(admin)).toBe('first GET /x');
  });

  it('forgets an address that is not written down any more', async () => {
    write(`127.0.0.1:${port(1)}`);
    const admin = client();
    expect(admin.located()).toBe(true);
    rmSync(file);
    expect(await body(admin)).toBe('failed');
    expect(admin.located()).toBe(false);
  });

  it('says what went wrong as a value', async () => {
    expect(await get(client())).toMatchObject({ ok: false, error: { code: 'ECONNREFUSED' } });
  });

  it.each([
    { what: '1,000 ms', timeoutMs: undefined, ms: 1_000 },
    { what: 'the time that is given', timeoutMs: 250, ms: 250 },
  ])('gives up after $what, and hangs up', async ({ timeoutMs, ms }) => {
    const scheduler = new VirtualTimeScheduler();
    const sockets: Socket[] = [];
    const server = await start(port(0), 'a', () => undefined);
    server.on('connection', (socket) => sockets.push(socket));
    const requested = once(server, 'request');
    const answers = all(adminClient(file, port(0), scheduler).request('GET', '/', timeoutMs));
    await requested;
    scheduler.flush();
    expect(await answers).toMatchObject([
      { ok: false, error: { message: expect.stringMatching(/^nothing within /) as string } },
    ]);
    expect(scheduler.now()).toBe(ms);
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('gives up on an answer that never ends', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = await start(port(0), 'a', (_, response) => response.write('half'));
    const requested = once(server, 'request');
    const answer = only(adminClient(file, port(0), scheduler).request('GET', '/'));
    await requested;
    scheduler.flush();
    expect(await answer).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/^nothing within /) as string },
    });
  });

  it('does not take half an answer for one', async () => {
    await start(port(0), 'a', (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    expect(await get(client())).toMatchObject({ ok: false });
  });

  /**
   * Starts a server that answers this many requests of each connection and then, instead of an
   * answer, hangs up.
   */
  const fickle = async (answers: readonly number[], hangUp: (socket: Socket) => void) => {
    let connections = 0;
    let requests = 0;
    const server = createRawServer((socket) => {
      let left = answers[connections++] ?? 0;
      socket
        .on('error', () => undefined)
        .on('data', () => {
          requests += 1;
          if (left-- > 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK');
          else hangUp(socket);
        });
    });
    servers.push(
      Object.assign(server as unknown as Server, { closeAllConnections: () => undefined }),
    );
    server.listen(port(0), '127.0.0.1');
    await once(server, 'listening');
    return { counts: () => ({ connections, requests }) };
  };

  it.each([
    { what: 'closed', hangUp: (socket: Socket) => socket.destroy() },
    { what: 'reset', hangUp: (socket: Socket) => socket.resetAndDestroy() },
  ])(
    'asks again if a kept connection is $what in the moment that it is used',
    async ({ hangUp }) => {
      const { counts } = await fickle([1, 1], (socket) => void hangUp(socket));
      const admin = client();
      expect(await body(admin)).toBe('OK');
      expect(await body(admin)).toBe('OK');
      expect(counts()).toEqual({ connections: 2, requests: 3 });
    },
  );

  it('does not ask again if it is a new connection that is closed', async () => {
    const { counts } = await fickle([0, 1], (socket) => void socket.destroy());
    expect(await get(client())).toMatchObject({ ok: false, error: { code: 'ECONNRESET' } });
    expect(counts()).toEqual({ connections: 1, requests: 1 });
  });

  it('refuses an answer of more than 64 MiB', async () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    await start(port(0), 'a', (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    const answer = await only(client().request('GET', '/', 20_000));
    expect(answer).toMatchObject({
      ok: false,
      error: { message: 'the answer is larger than 67108864 bytes' },
    });
  });

  it('abandons the request when it is unsubscribed from', async () => {
    const server = await start(port(0), 'a', () => undefined);
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const requested = once(server, 'request');
    const asking = client()
      .request('GET', '/')
      .subscribe({
        next: (answer) => expect.unreachable(JSON.stringify(answer)),
        error: (error: unknown) => expect.unreachable(String(error)),
      });
    const [socket] = await connected;
    await requested;
    asking.unsubscribe();
    await expect.poll(() => socket.destroyed).toBe(true);
  });
});
