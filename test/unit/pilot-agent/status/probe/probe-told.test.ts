import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { lastValueFrom, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adminClient } from '../../../../../src/proxy/admin-client.ts';
import type { AppProbe } from '../../../../../src/pilot-agent/config/app-probes.ts';
import { httpAnswer } from '../../../../../src/shared/http/http-answer.ts';
import { appProbe } from '../../../../../src/pilot-agent/status/probe/app-probe.ts';
import { probeHttp } from '../../../../../src/pilot-agent/status/probe/probe-http.ts';
import { rawServer } from '../../../../probes/raw-server.ts';

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const none = { defaultValue: undefined };

describe('a probe that fails', () => {
  const subscriptions: Subscription[] = [];
  const events: unknown[] = [];
  let application: Server;
  let status: Server;
  let answers: number;
  beforeEach(async () => {
    events.length = 0;
    answers = 503;
    application = createServer((_, response) => response.writeHead(answers).end()).listen(
      0,
      '127.0.0.1',
    );
    await once(application, 'listening');
    const probe: AppProbe = {
      kind: 'http',
      timeout: 5_000,
      host: 'localhost',
      port: portOf(application),
      path: '/',
      secure: false,
      headers: [],
    };
    const handler = appProbe(
      new Map(['a', 'b'].map((name) => [`/app-health/${name}/readyz`, probe])),
      ['localhost'],
    );
    status = createServer((request, response) =>
      subscriptions.push(
        handler(request, response).subscribe({
          next: (event) => events.push(event),
          error: expect.unreachable,
        }),
      ),
    );
    await once(status.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    subscriptions.splice(0).forEach((subscription) => subscription.unsubscribe());
    [application, status].forEach((server) => server.close().closeAllConnections());
  });

  const ask = (name = 'a') =>
    new Promise<string>((done, fail) => {
      get(
        {
          port: portOf(status),
          host: '127.0.0.1',
          path: `/app-health/${name}/readyz`,
          agent: false,
        },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
          response.on('end', () => done(`${response.statusCode} ${body}`));
        },
      ).on('error', fail);
    });
  const failed = (reason: string, name = 'a') => ({
    type: 'probe-failed',
    path: `/app-health/${name}/readyz`,
    reason,
  });

  it('is told once for its path and its reason, until that changes', async () => {
    for (const code of [503, 503, 500, 500, 503]) {
      answers = code;
      expect(await ask()).toMatch(new RegExp(`^${code} `));
    }
    expect(events).toEqual(
      [503, 500, 503].map((code) => failed(`the application answers ${code}`)),
    );
  });

  it('is told again after it has succeeded', async () => {
    for (const code of [503, 200, 200, 503]) {
      answers = code;
      await ask();
    }
    expect(events).toEqual([
      failed('the application answers 503'),
      failed('the application answers 503'),
    ]);
  });

  it('is told for each path', async () => {
    await Promise.all([ask(), ask('b')]);
    await ask('b');
    expect(events).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining([
        failed('the application answers 503'),
        failed('the application answers 503', 'b'),
      ]),
    );
  });

  it('has the reason in its body if the application gives no status', async () => {
    const port = portOf(application);
    application.close().closeAllConnections();
    await expect.poll(() => application.listening).toBe(false);
    expect(await ask()).toBe(`500 connect ECONNREFUSED ::1:${port}\n`);
    expect(await ask()).toMatch(/^500 connect ECONNREFUSED/);
    expect(events).toEqual([failed(`connect ECONNREFUSED ::1:${port}`)]);
  });
});

describe('leniency', () => {
  const odd = {
    name: '',
    raw: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nup 1\n\r\n0\r\n\r\n',
  };

  it('is for the application of the pod, and for nobody else', async () => {
    const { port, close } = await rawServer(odd);
    expect(await lastValueFrom(httpAnswer(`http://127.0.0.1:${port}/`), none)).toMatchObject({
      ok: false,
    });
    expect(
      await lastValueFrom(adminClient('/nowhere', port).request('GET', '/server_info'), none),
    ).toMatchObject({ ok: false });
    const probe = {
      kind: 'http',
      timeout: 5_000,
      host: 'localhost',
      port,
      path: '/',
      secure: false,
      headers: [],
    } as const;
    expect(await lastValueFrom(probeHttp(probe, ['localhost'], {}), none)).toEqual({ status: 200 });
    close();
  });

  it('counts the status line, in whatever pieces it comes', async () => {
    const pieces = ['HTTP/1.1 2', '03 OK\r\nContent-Length: 0\r\n', 'X Spaced: a\r\n\r\n'];
    const server = createTcpServer((socket) => {
      socket.setNoDelay(true).on('error', () => undefined);
      // Timers of different lengths may fire in another order after a stall.
      const answer = async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await pause(50);
        }
      };
      socket.once('data', () => void answer());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const probe = {
      kind: 'http',
      timeout: 5_000,
      host: 'localhost',
      port,
      path: '/',
      secure: false,
      headers: [],
    } as const;
    expect(await lastValueFrom(probeHttp(probe, ['localhost'], {}), none)).toEqual({ status: 203 });
    server.close();
  });
});
