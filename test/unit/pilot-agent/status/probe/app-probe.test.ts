import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  request as httpRequest,
  type Server as HttpServer,
} from 'node:http';
import {
  createSecureServer,
  createServer as createHttp2Server,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { Subscription } from 'rxjs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../../../demo/certificates.ts';
import type { StatusEvent } from '../../../../../src/pilot-agent/status/status-event.ts';
import { appProbes } from '../../../../../src/pilot-agent/config/app-probes.ts';
import { routes } from '../../../../../src/pilot-agent/status/routes.ts';
import { statusServer } from '../../../../../src/shared/http/status-server.ts';
import { freePorts } from '../../../../support/free-ports.ts';
import { statusParts } from '../../../../support/status-parts.ts';

interface Seen {
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

describe('a probe of the application', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const subscriptions: Subscription[] = [];
  const events: StatusEvent[] = [];
  let issued: Issued;
  beforeAll(async () => (issued = await (await certificateAuthority()).issue()));
  afterEach(() => {
    events.length = 0;
    for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    for (const socket of sockets) socket.destroy();
    for (const session of sessions) session.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function listen(server: Server | HttpServer): Promise<number> {
    servers.push(server.listen(0));
    server.on('connection', (socket: Socket) => sockets.add(socket));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function probe(
    entry: object,
    { path = '/app-health/a/readyz', method = 'GET', headers = {}, port: given = 0 } = {},
  ) {
    const [free = 0] = await freePorts(1);
    const port = given === 0 ? free : given;
    const probes = appProbes(JSON.stringify({ '/app-health/a/readyz': entry }));
    expect(probes.flaws).toEqual([]);
    let listening = false;
    subscriptions.push(
      statusServer(port, routes(statusParts(probes))).subscribe({
        next: (event) => {
          listening ||= event.type === 'listening';
          events.push(event);
        },
        error: expect.unreachable,
      }),
    );
    await expect.poll(() => listening).toBe(true);
    return new Promise<{ status: number; body: string; headers: IncomingHttpHeaders }>(
      (done, fail) => {
        const clientRequest = httpRequest(
          { host: '127.0.0.1', port, path, method, headers, agent: false },
          (response) => {
            let body = '';
            response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
            response.on('end', () =>
              done({ status: response.statusCode ?? 0, body, headers: response.headers }),
            );
          },
        );
        clientRequest.on('error', fail).end();
      },
    );
  }

  /**
   * Returns the application of the peers' tests: it answers 200 for two paths, 400 for all others.
   */
  const application =
    (requests: Seen[] = []): RequestListener =>
    ({ url, method, headers }, response) => {
      requests.push({ url, method, headers });
      response
        .writeHead(url === '/hello/sunnyvale' || url === '/' ? 200 : 400, { 'x-secret': 'a' })
        .end('body');
    };

  it('of a path that is not configured is a mistake; without the slash it leads there', async () => {
    expect(
      await probe({ httpGet: { port: 1 } }, { path: '/bad-path-should-be-404' }),
    ).toMatchObject({ status: 404 });
    expect(await probe({ httpGet: { port: 1 } }, { path: '/app-health/b/readyz' })).toMatchObject({
      status: 400,
      body: 'app prober config does not exists for /app-health/b/readyz\n',
    });
    expect(await probe({ httpGet: { port: 1 } }, { path: '/app-health' })).toMatchObject({
      status: 301,
      headers: { location: '/app-health/' },
    });
  });

  it.each([
    { id: 'a path', path: '/hello/sunnyvale', status: 200 },
    { id: 'no path', path: undefined, status: 200 },
    { id: 'no slash', path: 'hello/sunnyvale', status: 200 },
    { id: 'anything else', path: '/other', status: 400 },
  ])('$id: answers with the status of $path, and with nothing else', async ({ path, status }) => {
    const port = await listen(createServer(application()));
    const answer = await probe({ httpGet: { port, path } });
    expect(answer).toMatchObject({ status, body: '' });
    expect(answer.headers).not.toHaveProperty('x-secret');
  });

  it.each(['HTTP/1.1', 'HTTP/2'])(
    'speaks HTTPS with whatever certificate, over %s',
    async (version) => {
      const options = { key: issued.key, cert: issued.certChain };
      const versions: string[] = [];
      const answer = (
        { httpVersion }: { readonly httpVersion: string },
        response: { end(): unknown },
      ) => {
        versions.push(httpVersion);
        response.end();
      };
      const server =
        version === 'HTTP/2'
          ? createSecureServer(options, answer)
          : createHttpsServer(options, answer);
      const port = await listen(server);
      expect(await probe({ httpGet: { port, scheme: 'HTTPS' } })).toMatchObject({ status: 200 });
      expect(versions).toEqual([version === 'HTTP/2' ? '2.0' : '1.1']);
    },
  );

  it('speaks HTTP/2 without TLS to who understands nothing else', async () => {
    const server = createHttp2Server((_, response) => void response.writeHead(204).end());
    server.on('session', (session) => sessions.add(session));
    expect(await probe({ httpGet: { port: await listen(server) } })).toMatchObject({ status: 204 });
  });

  it('sends the configured headers over those that came, always by GET, on a connection of its own', async () => {
    const requests: Seen[] = [];
    const port = await listen(createServer(application(requests)));
    const httpHeaders = [
      { name: 'Host', value: 'host' },
      { name: 'Some-Header', value: 'some-value' },
    ];
    await probe(
      { httpGet: { port, httpHeaders } },
      { method: 'POST', headers: { 'some-header': 'other', 'user-agent': 'kube-probe/1.30' } },
    );
    expect(requests).toMatchObject([
      {
        method: 'GET',
        url: '/',
        headers: {
          host: 'host',
          'some-header': 'some-value',
          'user-agent': 'kube-probe/1.30',
          connection: 'close',
        },
      },
    ]);
  });

  it.each([
    { what: 'follows a redirect to the same host', location: '/hello/sunnyvale', expected: [] },
    {
      what: 'counts one that leads elsewhere as success, as the kubelet does, and says so',
      location: 'http://elsewhere.example/',
      expected: [
        {
          type: 'probe-redirected',
          path: '/app-health/a/readyz',
          location: 'http://elsewhere.example/',
        },
      ],
    },
  ])('$what', async ({ location, expected }) => {
    const port = await listen(
      createServer(({ url }, response) => {
        if (url === '/hello/sunnyvale') response.end();
        else response.writeHead(302, { location }).end();
      }),
    );
    expect(await probe({ httpGet: { port, path: '/start' } })).toMatchObject({ status: 200 });
    expect(events.slice(1)).toEqual(expected);
  });

  it('passes on a header that came twice as two', async () => {
    const headerValues: (readonly string[])[] = [];
    const port = await listen(
      createServer(({ rawHeaders }, response) => {
        headerValues.push(
          rawHeaders.filter(
            (_, index) => rawHeaders[index - (index % 2)] === 'x-twice' && index % 2 === 1,
          ),
        );
        response.end();
      }),
    );
    await probe({ httpGet: { port } }, { headers: { 'x-twice': ['a', 'b, c'] } });
    expect(headerValues).toEqual([['a', 'b, c']]);
  });

  it('is asked once, if the application leads it back to the agent, which would ask again', async () => {
    let requestCount = 0;
    const [agentPort = 0] = await freePorts(1);
    const port = await listen(
      createServer((_, response) => {
        requestCount += 1;
        response
          .writeHead(302, { location: `http://localhost:${agentPort}/app-health/a/readyz` })
          .end();
      }),
    );
    expect(await probe({ httpGet: { port } }, { port: agentPort })).toMatchObject({ status: 508 });
    expect(requestCount).toBe(1);
  });

  it.each([
    { redirects: 9, status: 200 },
    { redirects: 10, status: 500 },
  ])(
    'answers $status after $redirects redirects: Go gives up at the tenth',
    async ({ redirects, status }) => {
      let requestCount = 0;
      const port = await listen(
        createServer((_, response) => {
          if (++requestCount > redirects) response.end();
          else response.writeHead(302, { location: '/again' }).end();
        }),
      );
      expect(await probe({ httpGet: { port } })).toMatchObject({ status });
      expect(requestCount).toBe(10);
    },
  );

  it('honours the host', async () => {
    const port = await listen(createServer(application()));
    expect(await probe({ httpGet: { port, host: '127.0.0.1' } })).toMatchObject({ status: 200 });
    expect(await probe({ httpGet: { port, host: 'nobody.invalid' } })).toMatchObject({
      status: 500,
    });
  });

  it('waits as long as it is told to, and no longer', async () => {
    const port = await listen(createServer(() => undefined));
    const started = performance.now();
    expect(await probe({ httpGet: { port }, timeoutSeconds: 0.3 })).toMatchObject({
      status: 500,
      body: 'nothing within 0.3 s\n',
    });
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('is answered by 500 if nobody listens', async () => {
    const [port = 0] = await freePorts(1);
    for (const entry of [{ httpGet: { port } }, { tcpSocket: { port } }, { grpc: { port } }])
      expect((await probe(entry)).status).toBe(500);
  });

  it('is a connection, over TCP', async () => {
    const port = await listen(createTcpServer());
    expect(await probe({ tcpSocket: { port } })).toMatchObject({ status: 200, body: '' });
  });

  it.each([
    { what: 'SERVING', answer: [0, 0, 0, 0, 2, 8, 1], status: 200 },
    { what: 'NOT_SERVING', answer: [0, 0, 0, 0, 2, 8, 2], status: 500 },
    { what: 'nothing but an error', answer: [], status: 500 },
    { what: 'nonsense', answer: [9, 9, 9], status: 500 },
    { what: 'SERVING beside UNAVAILABLE', answer: [0, 0, 0, 0, 2, 8, 1], ended: '14', status: 500 },
    { what: 'SERVING beside no status', answer: [0, 0, 0, 0, 2, 8, 1], ended: '', status: 500 },
    {
      what: 'SERVING beside a status that is not a number',
      answer: [0, 0, 0, 0, 2, 8, 1],
      ended: '0x0',
      status: 500,
    },
  ])(
    'is a question of grpc.health.v1, over gRPC: $what',
    async ({ answer, ended = answer.length === 0 ? '12' : '0', status }) => {
      const requests: { path: string | undefined; body: Buffer }[] = [];
      const server = createHttp2Server();
      server.on('session', (session) => sessions.add(session));
      server.on('stream', (stream, headers) => {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => {
          requests.push({ path: headers[':path'], body: Buffer.concat(pieces) });
          stream.respond(
            { ':status': 200, 'content-type': 'application/grpc' },
            { waitForTrailers: true },
          );
          stream.on('wantTrailers', () =>
            stream.sendTrailers(ended === '' ? {} : { 'grpc-status': ended }),
          );
          stream.end(Buffer.from(answer));
        });
      });
      const port = await listen(server);
      expect(await probe({ grpc: { port, service: 'shop' } })).toMatchObject({ status });
      expect(requests).toEqual([
        {
          path: '/grpc.health.v1.Health/Check',
          body: Buffer.from([0, 0, 0, 0, 6, 10, 4, ...Buffer.from('shop')]),
        },
      ]);
    },
  );
});
