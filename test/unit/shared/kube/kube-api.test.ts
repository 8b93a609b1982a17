import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, type Observable, take } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { certificateAuthority, type CertificateAuthority } from '../../../../demo/certificates.ts';
import type { KubeAccess } from '../../../../src/shared/kube/access.ts';
import { kubeApi, type WatchSign } from '../../../../src/shared/kube/kube-api.ts';
import { eventually } from '../../../support/eventually.ts';

let ca: CertificateAuthority;
let server: Server;
let url: string;
let sockets: number;
/** Answers a request to the API, by its path. */
let answer: (path: string, response: ServerResponse, token: string) => void;

beforeEach(async () => {
  ca = await certificateAuthority();
  const { certChain: cert, key } = await ca.issue();
  sockets = 0;
  answer = (_, response) => response.end('{"kind":"one"}');
  server = createServer({ cert, key }, (request, response) =>
    answer(request.url ?? '', response, request.headers.authorization ?? ''),
  );
  server.on('secureConnection', () => (sockets += 1)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  vi.useRealTimers();
  server.close();
  server.closeAllConnections();
});

const access = (more: Partial<KubeAccess> = {}) =>
  Promise.resolve({ server: url, ca: Buffer.from(ca.rootCert), token: 'one', ...more });
const api = (more: Partial<KubeAccess> = {}) => kubeApi(() => access(more), 'pilot-agent');
const get = (path: string, from = api()) =>
  lastValueFrom(from.get(path), { defaultValue: undefined });
/** Returns all signs of a watch until it is over. */
const watch = (from = api(), signs: WatchSign[] = []) =>
  new Promise<readonly WatchSign[]>((done, fail) => {
    from
      .watch('/watch?a=b')
      .subscribe({ next: (sign) => signs.push(sign), complete: () => done(signs), error: fail });
  });

describe('a question to the API', () => {
  it('shows the token of the moment, and uses its connection again', async () => {
    let token = 'one';
    answer = (_, response, shown) => response.end(JSON.stringify({ shown }));
    const from = kubeApi(() => access({ token }), 'pilot-agent');
    expect(await get('/', from)).toEqual({ ok: true, value: { shown: 'Bearer one' } });
    token = 'two';
    for (let n = 0; n < 9; n += 1)
      expect(await get('/', from)).toEqual({ ok: true, value: { shown: 'Bearer two' } });
    expect(sockets).toBe(1);
  });

  it.each(['pilot-agent', 'pilot-discovery'] as const)('names the program: %s', async (program) => {
    let agents: readonly unknown[] = [];
    server.on('request', ({ headers }: IncomingMessage) => {
      agents = [...agents, headers['user-agent']];
    });
    await get(
      '/',
      kubeApi(() => access(), program),
    );
    expect(agents).toEqual([program]);
  });

  it.each<
    [status: number, body: string, headers: Record<string, string>, reason: string, pause: number]
  >([
    [
      403,
      '{"message":"secrets is forbidden: User \\"a\\"\\ncannot list"}',
      {},
      '403 secrets is forbidden: User "a" cannot list (allow it by a Role with list and watch, and a RoleBinding)',
      0,
    ],
    [
      401,
      '{"message":"Unauthorized"}',
      {},
      '401 Unauthorized (the token or the certificate is not one that it knows, or has expired)',
      0,
    ],
    [429, 'busy', { 'retry-after': '7' }, '429 (it has too much to do)', 7_000],
    [500, '<html>', { 'retry-after': '9999' }, '500', 60_000],
    [302, '', { location: 'https://elsewhere' }, '302', 0],
  ])(
    'that is answered by %i is told in words, with where it went',
    async (status, body, headers, reason, pause) => {
      answer = (_, response) => response.writeHead(status, headers).end(body);
      expect(await get('/api/v1/secrets?limit=1')).toEqual({
        ok: false,
        failure: { reason: `${url}/api/v1/secrets: ${reason}`, status, pause },
      });
    },
  );

  it('gives the reason if no connection is established, without the token', async () => {
    expect(
      await get('/', api({ ca: Buffer.from((await certificateAuthority('other')).rootCert) })),
    ).toMatchObject({
      failure: {
        reason: expect.stringContaining(
          'the root that is given does not vouch for its certificate',
        ) as string,
        status: undefined,
      },
    });
    expect(await get('/', api({ servername: 'elsewhere' }))).toMatchObject({
      failure: { reason: expect.stringContaining('elsewhere') as string },
    });
    server.close();
    server.closeAllConnections();
    const away = await get('/');
    expect(away).toMatchObject({
      failure: { reason: expect.stringMatching(/^https:.*: connect ECONNREFUSED/) as string },
    });
    expect(
      await get(
        '/',
        kubeApi(() => Promise.reject(new Error('there is no token')), 'pilot-agent'),
      ),
    ).toEqual({ ok: false, failure: { reason: 'there is no token', status: undefined, pause: 0 } });
  });

  it.each(['/none', '/half'])(
    'is given up after 30 s without an answer, or without the rest of it (%s)',
    async (path) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const requested = new Promise((done) => {
        answer = (_, response) => (path === '/none' ? done(0) : response.write('{', done));
      });
      const given = get(path);
      await requested;
      await eventually(() => vi.getTimerCount() === 1);
      vi.advanceTimersByTime(30_000);
      expect(await given).toMatchObject({ failure: { reason: `${url}: nothing within 30 s` } });
    },
  );

  it.each(['get', 'watch'] as const)(
    'waits 30 s at most for the text of a refusal (%s)',
    async (method) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const requested = new Promise((done) => {
        answer = (_, response) => {
          response.writeHead(429, { 'content-length': 9 }).write('a', done);
        };
      });
      const answers: unknown[] = [];
      const given = new Promise<void>((complete, error) => {
        const answer$: Observable<unknown> = api()[method]('/');
        answer$.subscribe({ next: (value) => answers.push(value), complete, error });
      });
      await requested;
      // The timer of the head ends when the head arrives.
      await new Promise((done) => setTimeout(done, 200));
      vi.advanceTimersByTime(30_000);
      await given;
      expect(answers).toMatchObject([{ failure: { reason: `${url}: nothing within 30 s` } }]);
    },
  );

  it('whose answer is not JSON is told so, without a word of it', async () => {
    answer = (_, response) => response.end('{"key": secret');
    expect(await get('/')).toEqual({
      ok: false,
      failure: { reason: `${url}: its answer is not JSON`, status: undefined, pause: 0 },
    });
  });
});

describe('a watch', () => {
  it('tells that it is open, each event however it comes in pieces, and its end', async () => {
    answer = (_, response) => {
      const text = Buffer.from('{"type":"ADDED","object":"ä"}\n\n{"type":"B"}\n');
      response.writeHead(200);
      for (const byte of text) response.write(Buffer.of(byte));
      response.end();
    };
    expect(await watch()).toEqual([
      { type: 'opened' },
      { type: 'event', value: { type: 'ADDED', object: 'ä' } },
      { type: 'event', value: { type: 'B' } },
      { type: 'ended', reason: 'it ends the watch' },
    ]);
  });

  it('whose connection breaks is over', async () => {
    answer = (_, response) => {
      response.write('{"a":1}\n{"cut');
      setImmediate(() => response.destroy());
    };
    expect(await watch()).toEqual([
      { type: 'opened' },
      { type: 'event', value: { a: 1 } },
      { type: 'ended', reason: expect.any(String) as string },
    ]);
  });

  it('that is refused says why', async () => {
    answer = (_, response) => response.writeHead(410).end('{"message":"too old resource version"}');
    expect(await watch()).toMatchObject([
      {
        type: 'refused',
        failure: {
          status: 410,
          reason: `${url}/watch: 410 too old resource version (what is asked for is too old)`,
        },
      },
    ]);
  });

  it('that says nothing for 150 s is silent, and its connection is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const closed = new Promise((done) => {
      answer = (_, response) => response.on('close', done).write('\n');
    });
    const signs: WatchSign[] = [];
    const over = watch(api(), signs);
    await eventually(() => signs.length === 1); // a poll of the test runner would advance its timers
    vi.advanceTimersByTime(149_999);
    expect(signs).toEqual([{ type: 'opened' }]);
    vi.advanceTimersByTime(1);
    expect(await over).toEqual([{ type: 'opened' }, { type: 'silent' }]);
    await closed;
  });

  it('of which an event does not end is over', async () => {
    answer = (_, response) => response.write(Buffer.alloc(17 << 20, 'a'));
    expect((await watch()).at(-1)).toEqual({
      type: 'ended',
      reason: `${url}: an event has more than ${16 << 20} bytes`,
    });
  });

  it('that is no longer wanted is ended', async () => {
    const closed = new Promise((done) => {
      answer = (_, response) => response.on('close', done).write('\n');
    });
    expect(
      await lastValueFrom(api().watch('/').pipe(take(1)), { defaultValue: undefined }),
    ).toEqual({ type: 'opened' });
    await closed;
  });
});
