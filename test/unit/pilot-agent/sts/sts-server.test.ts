import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, Server } from 'node:http';
import { isObservable, type Observable, of, ReplaySubject, type Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  noTokenExchange,
  type TokenExchange,
} from '../../../../src/pilot-agent/sts/token-exchange.ts';
import { type StsEvent, stsServer } from '../../../../src/pilot-agent/sts/sts-server.ts';
import { freePorts } from '../../../support/free-ports.ts';

const form = 'application/x-www-form-urlencoded';
const good = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token: 'subject',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  scope: 'scope',
};
const tokens: TokenExchange = {
  exchange: ({ subjectToken, scope }) =>
    of({ ok: true, accessToken: `access for ${subjectToken}, ${scope}`, expiresIn: 60 }),
  dump: () => ({ ok: true, tokens: [{ type: 'access token', issued: 0, expires: 60_000 }] }),
};

const fail = (error: unknown) => {
  throw error;
};
let server: Subscription | undefined;
afterEach(() => server?.unsubscribe());

async function start(exchange: TokenExchange | Observable<TokenExchange> = tokens) {
  const [port = 0] = await freePorts(1);
  const events: StsEvent[] = [];
  server = stsServer('127.0.0.1', port, isObservable(exchange) ? exchange : of(exchange)).subscribe(
    {
      next: (event) => events.push(event),
      error: fail,
    },
  );
  await expect.poll(() => events.length).toBeGreaterThan(0);
  return { port, events };
}

interface Told {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ask = (
  port: number,
  path: string,
  { method = 'POST', headers = { 'content-type': form }, body = '' }: Asking = {},
) =>
  new Promise<Told>((done, fail) => {
    const clientRequest = request(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (text += piece))
          .on('end', () =>
            done({
              status: response.statusCode ?? 0,
              type: response.headers['content-type'] ?? '',
              body: text,
            }),
          );
      },
    );
    clientRequest.on('error', fail).end(body);
  });
const formOf = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();

describe('the token server', () => {
  it('answers a valid request with a token, as JSON', async () => {
    const { port, events } = await start();
    const { status, type, body } = await ask(port, '/token', { body: formOf(good) });
    expect([status, type]).toEqual([200, 'application/json']);
    expect(JSON.parse(body)).toEqual({
      access_token: 'access for subject, scope',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 60,
      scope: '',
      refresh_token: '',
    });
    expect(events.at(-1)).toMatchObject({ type: 'answered', status: 200, reason: '' });
  });

  const bad: readonly (readonly [what: string, asking: Asking, reason: string])[] = [
    [
      'an empty grant_type',
      { body: formOf({ ...good, grant_type: '' }) },
      'request query grant_type is invalid',
    ],
    [
      'an incorrect grant_type',
      { body: formOf({ ...good, grant_type: 'password' }) },
      'request query grant_type is invalid',
    ],
    [
      'an empty subject_token',
      { body: formOf({ ...good, subject_token: '' }) },
      'subject_token is empty',
    ],
    [
      'an empty subject_token_type',
      { body: formOf({ ...good, subject_token_type: '' }) },
      'subject_token_type is invalid',
    ],
    [
      'an incorrect subject_token_type',
      { body: formOf({ ...good, subject_token_type: 'saml' }) },
      'subject_token_type is invalid',
    ],
    ['GET', { method: 'GET' }, 'request method is invalid'],
    [
      'JSON',
      { headers: { 'content-type': 'application/json' }, body: '{}' },
      'request content type is invalid',
    ],
    [
      'a charset',
      { headers: { 'content-type': `${form}; charset=utf-8` }, body: formOf(good) },
      'request content type is invalid',
    ],
    [
      'a body of 1 MB',
      { body: formOf({ ...good, scope: 'x'.repeat(1_000_000) }) },
      'the request is larger than',
    ],
    [
      'another site',
      { headers: { 'content-type': form, origin: 'https://example.com' }, body: formOf(good) },
      'other sites',
    ],
  ];
  it.each(bad)('refuses %s', async (_, options, reason) => {
    const { port } = await start();
    const { status, type, body } = await ask(port, '/token', options);
    expect([status, type]).toEqual([400, 'application/json']);
    const { error, error_description, error_uri } = JSON.parse(body) as Record<string, string>;
    expect([error, error_uri]).toEqual(['invalid_request', '']);
    expect(error_description).toContain(reason);
  });

  it('tells why there is no token', async () => {
    const { port, events } = await start(noTokenExchange);
    const { status, body } = await ask(port, '/token', { body: formOf(good) });
    expect(status).toBe(500);
    expect(JSON.parse(body)).toEqual({
      error: 'invalid_target',
      error_description: 'no plugin is found',
      error_uri: '',
    });
    expect(events.at(-1)).toMatchObject({
      type: 'answered',
      status: 500,
      reason: 'no plugin is found',
    });
  });

  it('says which tokens there are, but not the tokens; or why it can not', async () => {
    const { port } = await start();
    expect(JSON.parse((await ask(port, '/stsStatus', { method: 'GET' })).body)).toEqual({
      tokens: [
        {
          token_type: 'access token',
          issue_time: '1970-01-01T00:00:00.000Z',
          expire_time: '1970-01-01T00:01:00.000Z',
          token: '',
        },
      ],
    });
    server?.unsubscribe();
    const failing = await start({
      ...tokens,
      dump: () => ({ ok: false, reason: 'failed to dump token' }),
    });
    expect(await ask(failing.port, '/stsStatus')).toEqual({
      status: 500,
      type: 'text/plain; charset=utf-8',
      body: 'failure in dumping STS server status: failed to dump token\n',
    });
  });

  it('has no tokens while the exchange is not known, and who asks for one waits for it', async () => {
    const exchange$ = new ReplaySubject<TokenExchange>(1);
    const { port, events } = await start(exchange$);
    const answered = ask(port, '/token', { body: formOf(good) });
    expect((await ask(port, '/stsStatus')).body).toBe(
      'failure in dumping STS server status: no plugin is found\n',
    );
    expect(events).toEqual([{ type: 'listening' }]);
    exchange$.next(tokens);
    expect((await answered).status).toBe(200);
    expect((await ask(port, '/stsStatus')).status).toBe(200);
  });

  it('answers if the exchange fails by a bug, and goes on', async () => {
    const failing = () => {
      throw new Error('a bug');
    };
    const { port, events } = await start({ exchange: failing, dump: failing });
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await ask(port, '/token', { body: formOf(good) });
      expect([status, JSON.parse(body)]).toMatchObject([
        500,
        { error: 'invalid_target', error_description: 'a bug' },
      ]);
      expect(events.at(-1)).toMatchObject({ type: 'answered', status: 500, reason: 'a bug' });
      expect((await ask(port, '/stsStatus')).status).toBe(500);
    }
  });

  it('knows no other path', async () => {
    const { port } = await start();
    expect((await ask(port, '/')).status).toBe(404);
  });

  it('errors if it is closed once it has listened, so that it is started again', async () => {
    const [port = 0] = await freePorts(1);
    const heard: unknown[] = [];
    server = stsServer('127.0.0.1', port, of(tokens)).subscribe({
      next: ({ type }) => heard.push(type),
      error: (error: unknown) => heard.push((error as Error).message),
    });
    await expect.poll(() => heard).toEqual(['listening']);
    const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
    const http = handles.find(
      (handle) => handle instanceof Server && (handle.address() as AddressInfo).port === port,
    ) as Server;
    http.close();
    await expect.poll(() => heard).toEqual(['listening', 'the server was closed']);
    await expect.poll(() => http.listening).toBe(false);
  });

  it('fails if the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await expect.poll(() => other.listening).toBe(true);
    const events: StsEvent[] = [];
    server = stsServer('127.0.0.1', (other.address() as AddressInfo).port, of(tokens)).subscribe({
      next: (event) => events.push(event),
      error: fail,
    });
    await expect.poll(() => events.length).toBeGreaterThan(0);
    expect(events).toMatchObject([
      { type: 'failed', reason: expect.stringContaining('EADDRINUSE') as string },
    ]);
    other.close();
  });
});
