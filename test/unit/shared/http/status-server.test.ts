import {
  Agent,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { defer, NEVER, Observable, of, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/pilot-agent/status/routes.ts';
import type { StatusEvent } from '../../../../src/pilot-agent/status/status-event.ts';
import { statusServer } from '../../../../src/shared/http/status-server.ts';
import { statusParts } from '../../../support/status-parts.ts';
import { freePorts } from '../../../support/free-ports.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const foreign = Object.values(networkInterfaces())
  .flat()
  .flatMap((address) => (address?.family === 'IPv4' && !address.internal ? [address.address] : []));

describe('statusServer', () => {
  let port: number;
  let events: StatusEvent[];
  let serving: Subscription | undefined;

  const serve = async (unready$: Observable<string | undefined> = of(undefined)) => {
    serving = statusServer(port, routes(statusParts({ unready$ }))).subscribe({
      next: (event) => events.push(event),
      error: (error: unknown) => expect.unreachable(String(error)),
      complete: () => expect.unreachable('it never completes'),
    });
    await expect.poll(() => events.length).toBeGreaterThan(0);
  };
  const ask = (
    method: string,
    path: string,
    headers: OutgoingHttpHeaders = {},
    host = '127.0.0.1',
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const request = httpRequest(
        { host, port, method, path, headers, agent: false },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          );
        },
      );
      request.on('error', reject).end();
    });

  beforeEach(async () => {
    port = (await freePorts(1))[0] ?? expect.unreachable('no port');
    events = [];
    serving = undefined;
  });
  afterEach(() => serving?.unsubscribe());

  it('says that it listens, once', async () => {
    await serve();
    expect(events).toEqual([{ type: 'listening' }]);
  });

  it('does not listen before it is subscribed to', async () => {
    void statusServer(port, routes(statusParts()));
    await expect(ask('GET', '/healthz/ready')).rejects.toThrow('ECONNREFUSED');
  });

  it.each([
    { what: 'ready', reason: undefined, status: 200, body: '' },
    {
      what: 'not ready, with the reason (the Go agent: an empty body)',
      reason: 'Envoy is starting',
      status: 503,
      body: 'Envoy is starting\n',
    },
    {
      what: 'not ready, in more than ASCII',
      reason: 'schlüssel — fehlt',
      status: 503,
      body: 'schlüssel — fehlt\n',
    },
  ])('answers /healthz/ready: $what', async ({ reason, status, body }) => {
    await serve(of(reason));
    const answer = await ask('GET', '/healthz/ready');
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  it('asks anew for each probe, and takes the first answer', async () => {
    const reasons = ['draining', undefined];
    await serve(defer(() => of(reasons.shift(), 'too late')));
    expect((await ask('GET', '/healthz/ready')).status).toBe(503);
    expect((await ask('GET', '/healthz/ready')).status).toBe(200);
  });

  it('minds no query string', async () => {
    await serve();
    expect((await ask('GET', '/healthz/ready?verbose=1&x=/y')).status).toBe(200);
    expect((await ask('POST', '/quitquitquit?now')).status).toBe(200);
  });

  it.each([
    { path: '/healthz/ready', status: 503, length: '9' },
    { path: '/nothing', status: 404, length: '19' },
  ])('answers HEAD $path like GET, without the body', async ({ path, status, length }) => {
    await serve(of('draining'));
    const answer = await ask('HEAD', path);
    expect(answer).toMatchObject({ status, body: '', headers: { 'content-length': length } });
  });

  it.each([
    '/healthz',
    '/healthz/ready/',
    '/healthz/readyz',
    '/HEALTHZ/READY',
    '/app-healthy/x/livez',
    '/..%2fhealthz/ready',
  ])('does not find %s', async (path) => {
    await serve();
    expect(await ask('GET', path)).toMatchObject({ status: 404, body: '404 page not found\n' });
  });

  it('passes on each request to quit, as an event, by POST from this machine', async () => {
    await serve();
    expect(await ask('POST', '/quitquitquit')).toMatchObject({ status: 200, body: 'OK\n' });
    expect(await ask('POST', '/quitquitquit', { 'sec-fetch-site': 'none' })).toMatchObject({
      status: 200,
    });
    expect(await ask('POST', '/quitquitquit', { 'sec-fetch-site': 'same-origin' })).toMatchObject({
      status: 200,
    });
    expect(events).toEqual([
      { type: 'listening' },
      { type: 'quit-requested' },
      { type: 'quit-requested' },
      { type: 'quit-requested' },
    ]);
  });

  it.each<{
    what: string;
    method: string;
    headers: OutgoingHttpHeaders;
    status: number;
    body: string;
  }>([
    { what: 'GET', method: 'GET', headers: {}, status: 405, body: 'Method Not Allowed\n' },
    { what: 'PUT', method: 'PUT', headers: {}, status: 405, body: 'Method Not Allowed\n' },
    {
      what: 'OPTIONS, which a browser asks first',
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
      status: 405,
      body: 'Method Not Allowed\n',
    },
    {
      what: 'another origin',
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      status: 403,
      body: 'Requests from other sites are refused\n',
    },
    {
      what: 'a nameless origin',
      method: 'POST',
      headers: { origin: 'null' },
      status: 403,
      body: 'Requests from other sites are refused\n',
    },
    {
      what: 'another site',
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
      status: 403,
      body: 'Requests from other sites are refused\n',
    },
    {
      what: 'another host of the site',
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-site' },
      status: 403,
      body: 'Requests from other sites are refused\n',
    },
  ])('refuses to quit for $what', async ({ method, headers, status, body }) => {
    await serve();
    expect(await ask(method, '/quitquitquit', headers)).toMatchObject({ status, body });
    expect(events).toEqual([{ type: 'listening' }]);
  });

  it.each(foreign)('refuses to quit for the network (%s), and answers its probes', async (host) => {
    await serve();
    expect(await ask('POST', '/quitquitquit', {}, host)).toMatchObject({
      status: 403,
      body: 'Only requests from localhost are allowed\n',
    });
    expect(await ask('GET', '/healthz/ready', {}, host)).toMatchObject({ status: 200 });
    expect(events).toEqual([{ type: 'listening' }]);
  });

  it('says that its port is taken (the Go agent: goes on without)', async () => {
    const other = createServer().listen(port);
    await once(other, 'listening');
    await serve();
    expect(events).toEqual([
      { type: 'failed', reason: expect.stringContaining('EADDRINUSE') as string },
    ]);
    other.close();
  });

  it('closes with all its connections when it is unsubscribed from', async () => {
    let waiting = 0;
    await serve(
      defer(() => {
        waiting += 1;
        return NEVER;
      }),
    );
    const idle = connect(port, '127.0.0.1');
    const [closed, probe] = [once(idle, 'close'), ask('GET', '/healthz/ready')];
    probe.catch(() => undefined);
    await expect.poll(() => waiting).toBe(1);
    idle.on('error', () => undefined).resume();
    serving?.unsubscribe();
    await expect(probe).rejects.toThrow(/socket hang up|ECONNRESET/);
    await closed;
    await expect(ask('GET', '/healthz/ready')).rejects.toThrow('ECONNREFUSED');
  });

  it('frees the port for the next one', async () => {
    await serve();
    serving?.unsubscribe();
    events = [];
    await serve();
    expect(events).toEqual([{ type: 'listening' }]);
  });

  it('lets go of the question when who asked hangs up', async () => {
    let open = 0;
    const question$ = new Observable<undefined>(() => {
      open += 1;
      return () => (open -= 1);
    });
    await serve(question$);
    const client = connect(port, '127.0.0.1', () =>
      client.write('GET /healthz/ready HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    await expect.poll(() => open).toBe(1);
    client.destroy();
    await expect.poll(() => open).toBe(0);
  });

  it('reads what comes with a request, and minds it not', async () => {
    await serve();
    const client = connect(port, '127.0.0.1');
    client.write(
      `POST /quitquitquit HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n${'x'.repeat(100_000)}`,
    );
    let answer = '';
    client.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    await once(client, 'end');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(events).toEqual([{ type: 'listening' }, { type: 'quit-requested' }]);
  });

  it('keeps a connection with a request that waits behind an answered one', async () => {
    let questions = 0;
    await serve(defer(() => ((questions += 1) === 1 ? of(undefined) : NEVER)));
    const request = 'GET /healthz/ready HTTP/1.1\r\nHost: x\r\n\r\n';
    const client = connect(port, '127.0.0.1', () => client.write(request.repeat(2)));
    await once(client, 'data');
    await expect.poll(() => questions).toBe(2);
    // One more than that would cost the oldest idle connection.
    const others = Array.from({ length: 512 }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    await Promise.all(others.map((other) => once(other, 'connect')));
    expect((await ask('GET', '/unknown')).status).toBe(404);
    expect(client.destroyed || client.readableEnded).toBe(false);
    for (const socket of [client, ...others]) socket.destroy();
  });

  it('closes a connection whose request does not end, however it trickles, and no other', async () => {
    await serve();
    const begun = performance.now();
    const slow = [
      'GET /healthz/ready HTTP/1.1\r\nX: ',
      'POST /quitquitquit HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n',
    ].map((head) => {
      const client = connect(port, '127.0.0.1', () => client.write(head));
      const trickle = setInterval(() => client.write('x'), 100);
      client.on('error', () => undefined).resume();
      return new Promise((resolve) => client.on('close', resolve)).finally(() =>
        clearInterval(trickle),
      );
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let [answerCount, connections] = [0, 0];
    const other = setInterval(() => {
      const request = httpRequest(
        { port, path: '/healthz/ready', agent },
        (response) => void response.resume().on('end', () => (answerCount += 1)),
      );
      request
        .on('socket', () => (connections += request.reusedSocket ? 0 : 1))
        .on('error', () => undefined); // the last request is cut
      request.end();
    }, 500);
    await Promise.all(slow).finally(() => clearInterval(other));
    agent.destroy();
    expect(performance.now() - begun).toBeGreaterThan(4_900);
    expect(answerCount).toBeGreaterThan(5);
    expect(connections).toBe(1);
  });
});
