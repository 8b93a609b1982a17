import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { httpAnswer, type HttpQuestion } from '../../../../src/shared/http/http-answer.ts';

const all = (url: string, question?: HttpQuestion) =>
  lastValueFrom(httpAnswer(url, question).pipe(toArray()), { defaultValue: [] });

describe('httpAnswer', () => {
  let server: Server;

  const serve = async (listener: RequestListener): Promise<string> => {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('emits the whole answer to one question and completes; each subscription asks anew', async () => {
    let count = 0;
    const address = await serve((_, response) => {
      response.writeHead(503).write('no ');
      setImmediate(() => response.end(String(++count)));
    });
    expect(await all(`http://${address}/`)).toMatchObject([
      { ok: true, value: { status: 503, body: 'no 1' } },
    ]);
    expect(await all(`http://${address}/`)).toMatchObject([
      { ok: true, value: { status: 503, body: 'no 2' } },
    ]);
  });

  it('sends method, path and headers', async () => {
    const address = await serve(({ method, url, headers }, response) =>
      response.end(`${method ?? ''} ${url ?? ''} ${String(headers['x-a'])}`),
    );
    expect(
      await all(`http://${address}/a?b=c`, { method: 'PUT', headers: { 'X-A': 'd' } }),
    ).toMatchObject([{ value: { body: 'PUT /a?b=c d' } }]);
  });

  it('follows no redirect', async () => {
    const address = await serve((_, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    expect(await all(`http://${address}/`)).toMatchObject([{ value: { status: 302 } }]);
  });

  it.each([
    {
      what: 'a connection that is refused',
      url: () => 'http://127.0.0.1:1/',
      error: { code: 'ECONNREFUSED' },
    },
    {
      what: 'a URL that is none',
      url: () => 'http://not a host/',
      error: { code: 'ERR_INVALID_URL' },
    },
    {
      what: 'a server that speaks no TLS',
      url: (address: string) => `https://${address}/`,
      error: { message: expect.stringContaining('SSL') as unknown },
    },
    {
      what: 'half an answer',
      url: (address: string) => `http://${address}/half`,
      error: { message: 'aborted' },
    },
    {
      what: 'an answer of more than 1 MiB',
      url: (address: string) => `http://${address}/`,
      error: { message: 'the answer is larger than 1048576 bytes' },
    },
  ])('says as a value what went wrong: $what', async ({ url, error }) => {
    const address = await serve((request, response) => {
      if (request.url === '/half')
        response.writeHead(200, { 'content-length': 9 }).write('half', () => response.destroy());
      else response.end('x'.repeat((1 << 20) + 1));
    });
    expect(await all(url(address))).toMatchObject([{ ok: false, error }]);
  });

  it('takes an answer of 1 MiB', async () => {
    const address = await serve((_, response) => response.end('x'.repeat(1 << 20)));
    expect(await all(`http://${address}/`)).toMatchObject([{ ok: true, value: { status: 200 } }]);
  });

  it('hangs up when it is unsubscribed from', async () => {
    const address = await serve(() => undefined);
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const requested = once(server, 'request');
    const subscription = httpAnswer(`http://${address}/`).subscribe({
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    const [socket] = await connected;
    await requested;
    subscription.unsubscribe();
    await expect.poll(() => socket.destroyed).toBe(true);
  });
});
