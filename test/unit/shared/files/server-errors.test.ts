import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  asyncScheduler,
  NEVER,
  type Observable,
  of,
  type Subscription,
  VirtualTimeScheduler,
} from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { noReaders } from '../../../../src/pilot-discovery/identity/config-access.ts';
import { serveGrpc } from '../../../../src/pilot-discovery/run/serve-grpc.ts';
import { ownSocket } from '../../../../src/shared/files/own-socket.ts';
import { reportServerErrors } from '../../../../src/shared/files/server-errors.ts';
import { grpcOnSocket } from '../../../../src/shared/grpc/grpc-on-socket.ts';
import { lockFolder } from '../../../../src/pilot-agent/run/start/folder-lock.ts';
import { statusServer, statusSocket } from '../../../../src/shared/http/status-server.ts';
import { routes } from '../../../../src/pilot-agent/status/routes.ts';
import { stsServer } from '../../../../src/pilot-agent/sts/sts-server.ts';
import { noTokenExchange } from '../../../../src/pilot-agent/sts/token-exchange.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { statusParts } from '../../../support/status-parts.ts';

interface Place {
  readonly port: number;
  readonly socket: string;
}
interface Sign {
  readonly type: string;
  readonly reason?: string;
}

const reason = 'accept ENOBUFS';
const types$ = (events$: Observable<Sign>): Observable<Sign> => events$;

describe('a server that cannot take a connection', () => {
  let folder: string;
  let place: Place;
  let running: Subscription | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'server-errors-'));
    const [port = 0] = await freePorts(1);
    place = { port, socket: join(folder, 's') };
  });
  afterEach(() => {
    running?.unsubscribe();
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const grpc = {
    ...{
      viewFor$: () => NEVER,
      configFor$: () => NEVER,
      configReaders: noReaders,
      secretsOf$: () => NEVER,
      controlPlane: '',
      throttle: 1,
      drain$: NEVER,
      scheduler: asyncScheduler,
    },
    ...{ keepalive: { interval: 30_000, timeout: 10_000, age: 0 }, largestRequest: 4 << 20 },
  };
  it.each<{
    what: string;
    endpoint: 'port' | 'socket';
    serve$: (place: Place) => Observable<Sign>;
  }>([
    {
      what: 'the status port',
      endpoint: 'port',
      serve$: ({ port }) => types$(statusServer(port, routes(statusParts()), '127.0.0.1')),
    },
    {
      what: 'the status socket',
      endpoint: 'socket',
      serve$: ({ socket }) => types$(statusSocket(socket, routes(statusParts()))),
    },
    {
      what: 'the token server',
      endpoint: 'port',
      serve$: ({ port }) => types$(stsServer('127.0.0.1', port, of(noTokenExchange))),
    },
    { what: 'a socket', endpoint: 'socket', serve$: ({ socket }) => types$(ownSocket(socket)) },
    {
      what: 'gRPC on a socket',
      endpoint: 'socket',
      serve$: ({ socket }) =>
        types$(
          grpcOnSocket(socket, () => Promise.resolve(() => NEVER), { isEager: false, server: {} }),
        ),
    },
    {
      what: 'gRPC of the control plane',
      endpoint: 'port',
      serve$: ({ port }) =>
        types$(serveGrpc({ plain: { host: '127.0.0.1', port }, secure: undefined }, grpc)),
    },
  ])('tells that once, and goes on: $what', async ({ endpoint, serve$ }) => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const heard: Sign[] = [];
    running = serve$(place).subscribe({
      next: (sign) => heard.push(sign),
      error: (error: unknown) => expect.unreachable(String(error)),
      complete: () => expect.unreachable('it completed'),
    });
    const server = listen.mock.contexts[0] as Server;
    await expect
      .poll(() => (endpoint === 'port' ? server.listening : existsSync(place.socket)))
      .toBe(true);
    for (let times = 0; times < 3; times += 1) server.emit('error', new Error(reason));
    expect(heard.filter(({ type }) => type !== 'listening')).toEqual([
      expect.objectContaining({ type: 'not-taken', reason }),
    ]);
    expect(server.listening).toBe(true);
    const client = endpoint === 'port' ? connect(place.port, '127.0.0.1') : connect(place.socket);
    await expect.poll(() => client.readyState).toBe('open');
    client.destroy();
  });

  it('does not lose its folder', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const first = await lockFolder(folder, '1');
    const server = listen.mock.contexts[0] as Server;
    for (let times = 0; times < 3; times += 1) server.emit('error', new Error(reason));
    expect(await lockFolder(folder, '2')).toMatchObject({ ok: false, holder: { version: '1' } });
    if (first.ok) first.release();
  });
});

describe('reportServerErrors', () => {
  it('tells why a server cannot listen, and then each reason once a minute', async () => {
    const time = new VirtualTimeScheduler();
    const reports: string[] = [];
    const server = createServer();
    reportServerErrors(
      server,
      { failed: (why) => reports.push(`failed: ${why}`), notTaken: (why) => reports.push(why) },
      time,
    );
    const fail = (why: string) => server.emit('error', new Error(why));
    fail('in use');
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    for (const ms of [0, 1, 59_999, 60_000]) time.schedule(() => fail('A'), ms);
    time.schedule(() => fail('B'), 2);
    time.flush();
    server.close();
    expect(reports).toEqual(['failed: in use', 'A', 'B', 'A']);
  });
});
