import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER, Observable, type Subscription, throwError } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  grpcOnSocket,
  type GrpcEvent,
  type ServeGrpc,
} from '../../../../src/shared/grpc/grpc-on-socket.ts';

interface Called {
  readonly type: 'called';
  readonly bytes: number;
}

const asItIs = (bytes: Buffer) => bytes;
const path = '/test.Echo/Echo';
const echoMethod = {
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
};

/** Answers each request with itself, and reports its length. */
const echo$: ServeGrpc<Called> = (server) =>
  new Observable((subscriber) => {
    server.addService(
      { echo: echoMethod },
      {
        echo: ({ request }: { request: Buffer }, answer: (error: null, bytes: Buffer) => void) => {
          subscriber.next({ type: 'called', bytes: request.length });
          answer(null, request);
        },
      },
    );
  });

describe('grpcOnSocket', () => {
  let folder: string;
  let socket: string;
  let events: (GrpcEvent | Called)[];
  let loads: number;
  /** Returns the promise that the loading of gRPC waits for. */
  let gate: () => Promise<unknown>;
  const running: Subscription[] = [];
  const clients: { destroy(): unknown }[] = [];

  const serve = (serve$: ServeGrpc<Called> = echo$, isEager = false) => {
    const server = grpcOnSocket(socket, () => Promise.resolve(serve$), {
      isEager,
      server: {},
    }).subscribe({
      next: (event) => events.push(event),
      error: (error: unknown) => expect.unreachable(String(error)),
      complete: () => expect.unreachable('it completed'),
    });
    running.push(server);
    return server;
  };
  const types = () => events.map(({ type }) => type);
  const listening = () => expect.poll(types).toContain('listening');
  /** Sends a request as a whole at once, as Envoy does; returns the length of the answer. */
  const call = (bytes: number) => {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    session.on('error', () => undefined);
    clients.push(session);
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const message = Buffer.alloc(5 + bytes, 'x');
    message.writeUInt8(0, 0);
    message.writeUInt32BE(bytes, 1);
    stream.end(message);
    return new Promise<number>((resolve) => {
      let length = 0;
      stream.on('data', (chunk: Buffer) => (length += chunk.length));
      stream.on('error', () => resolve(-1));
      stream.on('end', () => resolve(length - 5));
    });
  };
  const dial = () =>
    new Promise<Socket>((resolve) => {
      const client = connect(socket, () => resolve(client));
      client.on('error', () => undefined).resume();
      clients.push(client);
    });
  const closed = (client: Socket) =>
    new Promise<void>((resolve) => client.on('close', () => resolve()));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'grpc-on-socket-'));
    socket = join(folder, 'XDS');
    events = [];
    loads = 0;
    gate = () => Promise.resolve();
    vi.resetModules(); // gRPC is loaded again
    // This runs once in each test: if two run in a row, it is not known which one applies.
    vi.doMock('@grpc/grpc-js', async (original) => {
      loads += 1;
      await gate();
      return original();
    });
  });
  afterEach(() => {
    vi.doUnmock('@grpc/grpc-js');
    for (const client of clients.splice(0)) client.destroy();
    for (const subscription of running.splice(0)) subscription.unsubscribe();
    rmSync(folder, { recursive: true });
  });

  it('listens without gRPC, and loads it for the first connection', async () => {
    serve();
    await listening();
    expect(loads).toBe(0);
    expect(await call(10)).toBe(10);
    expect(await call(20)).toBe(20);
    expect(loads).toBe(1);
    expect(events).toEqual([
      { type: 'listening' },
      { type: 'called', bytes: 10 },
      { type: 'called', bytes: 20 },
    ]);
  });

  it('is its owner’s alone from the moment it is bound, whatever the mask is', async () => {
    const before = process.umask(0);
    try {
      serve();
      expect(statSync(`${socket}.new`).mode & 0o777).toBe(0o600);
      expect(process.umask(0)).toBe(0);
      await listening();
      expect(statSync(socket).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it('loads gRPC as soon as it listens if it is told to', async () => {
    serve(echo$, true);
    await expect.poll(() => loads).toBe(1);
    expect(types()).toEqual(['listening']);
    expect(await call(10)).toBe(10);
  });

  it('keeps the connections, and what they have sent, that come while gRPC is loaded', async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    gate = () => opened;
    serve();
    await listening();
    const gone = await dial();
    gone.destroy();
    const calls = [call(60_000), call(1), call(30_000)];
    await expect.poll(() => loads).toBe(1);
    await dial(); // the others have come before it
    expect(types()).toEqual(['listening']);
    open();
    expect(await Promise.all(calls)).toEqual([60_000, 1, 30_000]);
  });

  it('tells that gRPC cannot be loaded', async () => {
    gate = () => Promise.reject(new Error('injected'));
    serve();
    await listening();
    await dial();
    await expect.poll(types).toEqual(['listening', 'failed']);
    expect(events[1]).toMatchObject({ reason: expect.stringContaining('gRPC: ') as string });
  });

  it.each<[string, ServeGrpc<Called>]>([
    [
      'throws',
      () => {
        throw new Error('injected');
      },
    ],
    ['errors', () => throwError(() => new Error('injected'))],
  ])('tells that what it is to serve %s', async (_, serve$) => {
    serve(serve$, true);
    await expect
      .poll(() => events)
      .toEqual([{ type: 'listening' }, { type: 'failed', reason: 'gRPC: Error: injected' }]);
  });

  it('closes its connections at the end, those that wait too, and takes its socket away', async () => {
    gate = () => new Promise(() => undefined);
    const server = serve();
    await listening();
    const over = closed(await dial());
    await expect.poll(() => loads).toBe(1);
    server.unsubscribe();
    await over;
    expect(existsSync(socket)).toBe(false);
    gate = () => Promise.resolve();
    vi.resetModules();
    const second = serve();
    await expect.poll(() => types().filter((type) => type === 'listening').length).toBe(2);
    expect(await call(10)).toBe(10);
    const served = closed(await dial());
    second.unsubscribe();
    await served;
  });

  it('leaves what has taken the place of its socket', async () => {
    const server = serve(() => NEVER);
    await listening();
    writeFileSync(join(folder, 'other'), 'precious');
    renameSync(join(folder, 'other'), socket);
    server.unsubscribe();
    expect(existsSync(socket)).toBe(true);
  });
});
