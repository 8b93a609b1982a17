import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../../../demo/certificates.ts';
import { httpAnswer, type HttpQuestion } from '../../../../src/shared/http/http-answer.ts';
import { isProxied } from '../../../../src/shared/http/outside-proxy.ts';
import { fetched } from '../../../../src/shared/http/fetched.ts';
import { eventually } from '../../../support/eventually.ts';

const proxyUrl = 'http://proxy.example:3128';

describe('what is asked through the proxy', () => {
  it.each([
    ['https://config.example/', [], true],
    ['http://10.0.0.1:8080/', [], true],
    ['https://localhost/', [], false],
    ['https://LOCALHOST.:8443/', [], false],
    ['https://app.localhost/', [], false],
    ['http://127.0.0.1:15020/', [], false],
    ['http://127.8.9.10/', [], false],
    ['http://[::1]:1/', [], false],
    ['http://[::ffff:127.0.0.1]/', [], false],
    ['https://config.example/', ['*'], false],
    ['https://config.example/', ['config.example'], false],
    ['https://a.config.example/', ['config.example'], false],
    ['https://a.config.example/', ['.config.example'], false],
    ['https://a.config.example/', ['*.config.example'], false],
    ['https://CONFIG.example./', ['Config.Example.'], false],
    ['https://myconfig.example/', ['config.example'], true],
    ['https://config.example.com/', ['config.example'], true],
    ['https://config.example/', ['config.example:443'], false],
    ['https://config.example/', ['config.example:8443'], true],
    ['http://config.example/', ['config.example:80'], false],
    ['https://config.example/', ['other', ' a.example , config.example'], false],
    ['https://10.1.2.3/', ['10.0.0.0/8'], false],
    ['https://11.1.2.3/', ['10.0.0.0/8'], true],
    ['https://10.1.2.3/', ['10.1.2.3'], false],
    ['https://10.1.2.3:8443/', ['10.1.2.3:8443'], false],
    ['https://[fd00::5]/', ['fd00::/8'], false],
    ['https://[fd00::5]/', ['fd00::5'], false],
    ['https://[fd00::5]:8443/', ['[fd00::5]:8443'], false],
    ['https://[fd00::5]/', ['fd00::6'], true],
    ['https://config.example/', ['10.0.0.0/8', 'fd00::/99999', '', '.', 'a/b'], true],
  ])('%s, with the exceptions %j: %s', (url, except, proxied) => {
    expect(isProxied(new URL(url), { url: proxyUrl, except })).toBe(proxied);
  });

  it('nothing, without a proxy', () => {
    expect(isProxied(new URL('https://config.example/'), { url: '', except: [] })).toBe(false);
  });
});

describe('a proxy', () => {
  const servers: (Server | HttpServer)[] = [];
  const sockets = new Set<Socket>();
  let authority: CertificateAuthority;
  let issued: Issued;
  beforeAll(async () => {
    authority = await certificateAuthority();
    issued = await authority.issue();
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function listening(server: Server | HttpServer): Promise<number> {
    servers.push(server.listen(0, '127.0.0.1'));
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Starts a proxy that answers each request head by `answers`; returns the heads that came. */
  async function proxyThat(answers: (head: string, socket: Socket) => void) {
    const heads: string[] = [];
    const port = await listening(
      createServer((socket) => {
        let head = '';
        socket.on('data', function read(piece: Buffer) {
          head += piece.toString('latin1');
          if (!head.includes('\r\n\r\n')) return;
          socket.off('data', read);
          heads.push(head);
          answers(head, socket);
        });
      }),
    );
    return { url: `http://127.0.0.1:${port}`, at: `127.0.0.1:${port}`, heads };
  }

  const tunnelTo = (port: number) => (_: string, socket: Socket) => {
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nVia: a\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream.on('error', () => undefined));
  };
  const ask = (url: string, proxy: string, more: HttpQuestion = {}) =>
    lastValueFrom(
      httpAnswer(url, { ca: authority.rootCert, proxy: { url: proxy, except: [] }, ...more }),
      { defaultValue: undefined },
    );
  const origin = () =>
    listening(
      createHttpsServer({ key: issued.key, cert: issued.certChain }, ({ method, url }, response) =>
        response.end(`${method} ${url}`),
      ),
    );

  it('is asked for a tunnel if the server speaks TLS, whose name is proved', async () => {
    const proxy = await proxyThat(tunnelTo(await origin()));
    const answer = await ask('https://config.example:8443/a?b=c', proxy.url, {
      servername: 'localhost',
      headers: { 'x-a': 'secret' },
    });
    expect(answer).toMatchObject({ ok: true, value: { status: 200, body: 'GET /a?b=c' } });
    expect(proxy.heads).toEqual([
      expect.stringMatching(
        /^CONNECT config\.example:8443 HTTP\/1\.1\r\nHost: config\.example:8443\r\n/i,
      ),
    ]);
    expect(proxy.heads[0]).not.toContain('secret');
    expect(await ask('https://config.example:8443/', proxy.url)).toMatchObject({
      error: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    expect(await ask('https://10.0.0.1/', proxy.url)).toMatchObject({
      error: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
  });

  it('gets a plain request as a whole, with the name and the password that it asks for', async () => {
    const proxy = await proxyThat((_, socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    const url = proxy.url.replace('//', '//us%65r:p%40ss@');
    expect(
      await ask('http://config.example/a?b#c', url, { headers: { 'x-a': '1' } }),
    ).toMatchObject({
      value: { status: 200, body: 'ok' },
    });
    const [head = ''] = proxy.heads;
    expect(head).toMatch(/^GET http:\/\/config\.example\/a\?b HTTP\/1\.1\r\n/);
    expect(head).toMatch(/\r\nhost: config\.example\r\n/i);
    expect(head).toContain(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    expect(head).toMatch(/\r\nx-a: 1\r\n/i);
  });

  it('is not asked for what is an exception, nor for this machine', async () => {
    const proxy = await proxyThat((_, socket) => socket.resetAndDestroy());
    const port = await listening(createHttpServer((_, response) => response.end('here')));
    expect(await ask(`http://localhost:${port}/`, proxy.url)).toMatchObject({
      value: { body: 'here' },
    });
    expect(await ask(`http://127.0.0.1:${port}/`, proxy.url)).toMatchObject({
      value: { body: 'here' },
    });
    expect(proxy.heads).toEqual([]);
  });

  const refusals: Readonly<
    Record<string, { answers: (head: string, socket: Socket) => void; says: RegExp }>
  > = {
    '403, then FIN': {
      answers: (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
      says: /CONNECT with 403$/,
    },
    '403, then RST': {
      answers: (_, socket) =>
        socket.write('HTTP/1.1 403 Forbidden\r\n\r\n', () => socket.resetAndDestroy()),
      says: /CONNECT with 403$|ECONNRESET|hang up/,
    },
    '403 with a page that never ends': {
      answers: (_, socket) => socket.write('HTTP/1.1 403 No\r\n\r\n<html>'),
      says: /CONNECT with 403$/,
    },
    407: {
      answers: (_, socket) => socket.end('HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n'),
      says: /CONNECT with 407$/,
    },
    'a redirect': {
      answers: (_, socket) => socket.end('HTTP/1.1 302 Go\r\nLocation: http://a/\r\n\r\n'),
      says: /CONNECT with 302$/,
    },
    RST: { answers: (_, socket) => socket.resetAndDestroy(), says: /ECONNRESET|hang up/ },
    FIN: { answers: (_, socket) => socket.end(), says: /hang up/ },
    'what is not HTTP': {
      answers: (_, socket) => socket.end('SSH-2.0-a\r\n\r\n'),
      says: /Parse Error/,
    },
    'a head that is too long': {
      answers: (_, socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(99_999)}\r\n\r\n`),
      says: /overflow/,
    },
  };

  it.each(Object.entries(refusals))(
    'that answers CONNECT with %s is a failure with a reason',
    async (_, { answers, says }) => {
      const proxy = await proxyThat(answers);
      const answer = await ask('https://config.example/', proxy.url);
      expect(answer).toMatchObject({
        ok: false,
        error: { message: expect.stringMatching(says) as unknown },
      });
      expect((answer as { error: Error }).error.message).toMatch(
        new RegExp(`^the proxy ${proxy.at.replaceAll('.', '\\.')}: `),
      );
      expect((answer as { error: Error }).error.message).not.toContain('undefined');
    },
  );

  it.each<[string, (socket: Socket) => void]>([
    ['RST', (socket) => socket.resetAndDestroy()],
    ['FIN', (socket) => socket.end()],
    ['what is not TLS', (socket) => socket.end('no TLS at all, but many words')],
  ])('whose tunnel ends with %s is a failure, and no bug', async (_, ends) => {
    const uncaught = vi.fn();
    process.on('uncaughtException', uncaught);
    const proxy = await proxyThat((__, socket) =>
      socket.write('HTTP/1.1 200 OK\r\n\r\n', () => ends(socket)),
    );
    expect(await ask('https://config.example/', proxy.url)).toMatchObject({ ok: false });
    process.off('uncaughtException', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
  });

  it('where nobody listens is named', async () => {
    const port = await listening(createServer());
    servers.splice(0).forEach((server) => server.close());
    expect(await ask('https://config.example/', `http://127.0.0.1:${port}`)).toMatchObject({
      error: { message: `the proxy 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}` },
    });
  });

  it('that says nothing is left when nobody waits any longer', async () => {
    const closed = vi.fn();
    const proxy = await proxyThat((_, socket) => void socket.on('close', closed));
    const subscription = httpAnswer('https://config.example/', {
      proxy: { url: proxy.url, except: [] },
    }).subscribe();
    await eventually(() => proxy.heads.length === 1);
    subscription.unsubscribe();
    await eventually(() => closed.mock.calls.length === 1);
  });

  it('is asked by a source, beside the token, which only the server gets', async () => {
    const proxy = await proxyThat(tunnelTo(await origin()));
    const files = { proxy: { url: proxy.url, except: [] } };
    const answer$ = fetched(
      'https://config.example/',
      files,
      () => ({ authorization: 'Bearer secret' }),
      1_000,
    );
    await expect(lastValueFrom(answer$, { defaultValue: undefined })).rejects.toThrow(
      /certificate/,
    ); // the roots of the server are not those of Node
    expect(proxy.heads).toHaveLength(1);
    expect(proxy.heads[0]).not.toContain('secret');
  });
});
