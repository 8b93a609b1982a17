import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { firstValueFrom, map, Subscription } from 'rxjs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import type { SourceConfig } from '../../../../src/pilot-agent/config/source-config.ts';
import { http, type HttpOptions } from '../../../../src/pilot-agent/sources/http.ts';
import type { SourceChange } from '../../../../src/streams/config-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-http-source-'));
/** The options to ask again soon, also after a failure, in ms. */
const quick = { every: 5, pauses: { first: 5, longest: 5 }, timeout: 1_000, firstWithin: 5_000 };
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true }));

describe('http', () => {
  let server: Server | undefined;
  let listening = new Subscription();
  const requestHeaders: IncomingHttpHeaders[] = [];

  const listen = async (newServer: Server) => {
    server = newServer.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const serve = async (listener: RequestListener): Promise<string> => {
    const heard: RequestListener = (request, response) => {
      requestHeaders.push(request.headers);
      listener(request, response);
    };
    return `http://127.0.0.1:${await listen(createServer(heard))}/config?key=secret`;
  };
  /** Subscribes to a source; returns its changes, and a function that reads its content. */
  const listenTo = (url: string, options: HttpOptions = {}) => {
    const changes: SourceChange[] = [];
    const { changes$, reading$ } = http(url, { ...quick, ...options });
    listening.add(
      changes$.subscribe({ next: (change) => changes.push(change), error: expect.unreachable }),
    );
    const read = () =>
      firstValueFrom(reading$.pipe(map(({ config }) => config?.[0])), { defaultValue: undefined });
    return {
      changes,
      read,
      count: (type: SourceChange['type']) =>
        changes.filter((change) => change.type === type).length,
    };
  };
  const reading = (url: string, options: HttpOptions = {}) => listenTo(url, options).read();
  afterEach(() => {
    listening.unsubscribe();
    listening = new Subscription();
    server?.close();
    server?.closeAllConnections();
    requestHeaders.length = 0;
  });

  it('reads the text of a document, and its bytes if it is a secret', async () => {
    const url = await serve((_, response) => response.end('grüße'));
    const name = url.replace(/\?.*/, '');
    expect(await reading(url)).toMatchObject({
      source: name,
      content: 'grüße',
      use: 'restart',
      trouble: undefined,
    });
    expect(await reading(url, { name: 'mine', as: 'secret' })).toMatchObject({
      source: 'mine',
      content: Buffer.from('grüße'),
      use: 'secret',
    });
  });

  it('takes what flags and files ask for as it is', async () => {
    const url = await serve((_, response) => response.end('text'));
    const config: SourceConfig = {
      kind: 'http',
      name: 'mine',
      as: 'merge',
      at: 'a.b',
      url,
      every: 5_000,
      timeout: 1_000,
      largest: 4,
      caFile: '',
      tokenFile: '',
    };
    expect(await reading(config.url, config)).toMatchObject({
      source: 'mine',
      use: 'merge',
      at: 'a.b',
      content: 'text',
    });
    expect(requestHeaders[0]).not.toHaveProperty('authorization');
  });

  it('tells the server what it knows, and keeps it if that is still so', async () => {
    const dates = {
      date: 'Sun, 22 Nov 2026 10:00:01 GMT',
      'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT',
    };
    const url = await serve(({ headers }, response) => {
      if (headers['if-none-match'] === undefined)
        response.writeHead(200, { etag: '"1"', ...dates }).end('text');
      else response.writeHead(304).end();
    });
    const { count, read } = listenTo(url, { keepLastOnError: false });
    await expect.poll(() => count('source-read')).toBeGreaterThan(2);
    expect(
      requestHeaders
        .slice(0, 3)
        .map((headers) => [headers['if-none-match'], headers['if-modified-since']]),
    ).toEqual([
      [undefined, undefined],
      ['"1"', dates['last-modified']],
      ['"1"', dates['last-modified']],
    ]);
    expect(count('changed')).toBe(1);
    expect(await read()).toMatchObject({ content: 'text' });
  });

  it('does not rely on the time of a document that has changed within the last second', async () => {
    const date = 'Sun, 22 Nov 2026 10:00:00 GMT';
    const url = await serve((_, response) =>
      response.writeHead(200, { date, 'last-modified': date }).end('text'),
    );
    const { count } = listenTo(url);
    await expect.poll(() => count('source-read')).toBeGreaterThan(1);
    expect(requestHeaders.some((headers) => 'if-modified-since' in headers)).toBe(false);
  });

  it('asks without what it knows after an answer that is none, which may be due to that', async () => {
    const url = await serve(({ headers }, response) => {
      if (headers['if-none-match'] === undefined)
        response.writeHead(200, { etag: '"1"' }).end(`text ${requestHeaders.length}`);
      else response.writeHead(431).end();
    });
    const { count } = listenTo(url);
    await expect.poll(() => count('changed')).toBeGreaterThan(1);
  });

  it('keeps what it has while the server fails, and says why', async () => {
    let isDown = false;
    const url = await serve((_, response) =>
      isDown ? response.socket?.destroy() : response.end('text'),
    );
    const { changes, read, count } = listenTo(url);
    await expect.poll(() => count('changed')).toBe(1);
    isDown = true;
    await expect.poll(() => count('source-unreadable')).toBeGreaterThan(1);
    expect(await read()).toMatchObject({
      content: 'text',
      trouble: `${url.replace(/\?.*/, '')}: socket hang up`,
    });
    isDown = false;
    await expect.poll(() => changes.at(-1)?.type).toBe('source-read');
    expect(count('changed')).toBe(1);
  });

  it.each([
    {
      what: 'a redirect',
      head: [302, { location: 'https://other/x?key=secret' }],
      says: 'it answers 302, a redirect to https://other/x. Redirects are not followed: give that URL if you trust it',
    },
    {
      what: 'a redirect to nowhere',
      head: [307, {}],
      says: 'it answers 307, a redirect. Redirects are not followed: give that URL if you trust it',
    },
    { what: 'no document', head: [404, {}], says: 'it answers 404 instead of 200' },
    { what: 'an empty success', head: [204, {}], says: 'it answers 204 instead of 200' },
    { what: 'a refusal', head: [401, {}], says: 'it answers 401: no token file is given' },
    {
      what: '"not modified" to who knows nothing',
      head: [304, {}],
      says: 'it answers 304 (not modified), but the request named no version',
    },
    {
      what: 'an encoding that was not asked for',
      head: [200, { 'content-encoding': 'br' }],
      says: 'its answer is in an encoding other than gzip, which was not asked for',
    },
    {
      what: 'what is not gzip',
      head: [200, { 'content-encoding': 'gzip' }],
      says: 'incorrect header check',
    },
  ] as const)('refuses $what', async ({ head: [status, headers], says }) => {
    const url = await serve((_, response) =>
      response.writeHead(status, headers).end(status === 304 ? undefined : 'text'),
    );
    expect(await reading(url)).toMatchObject({
      content: undefined,
      trouble: `${url.replace(/\?.*/, '')}: ${says}`,
    });
  });

  it.each([
    {
      what: 'larger than the limit',
      body: 'x'.repeat(101),
      headers: {},
      says: 'the answer is larger than 100 bytes',
    },
    {
      what: 'larger than the limit once unpacked',
      body: gzipSync('x'.repeat(1 << 20)),
      headers: { 'content-encoding': 'gzip' },
      says: 'the answer is larger than 100 bytes',
    },
    {
      what: 'no text',
      body: Buffer.from([0xff, 0xfe]),
      headers: {},
      says: 'its answer is not text in UTF-8',
    },
    { what: 'cut off', body: 'x', headers: { 'content-length': 2 }, says: 'aborted' },
    {
      what: 'cut off in gzip',
      body: gzipSync('text').subarray(0, 12),
      headers: { 'content-encoding': 'gzip' },
      says: 'unexpected end of file',
    },
  ])('refuses a document that is $what', async ({ body, headers, says }) => {
    const url = await serve((_, response) => {
      response
        .writeHead(200, headers)
        .write(body, () => ('content-length' in headers ? response.destroy() : response.end()));
    });
    expect(await reading(url, { largest: 100 })).toMatchObject({
      trouble: `${url.replace(/\?.*/, '')}: ${says}`,
    });
  });

  it('unpacks gzip', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('text')),
    );
    expect(await reading(url)).toMatchObject({ content: 'text' });
    expect(requestHeaders[0]).toMatchObject({ 'accept-encoding': 'gzip' });
  });

  it('sends the token that its file has at the time', async () => {
    const url = await serve((_, response) => response.writeHead(403).end());
    const tokenFile = file('token', 'one\n');
    const { changes, read } = listenTo(url, { tokenFile });
    await expect.poll(() => requestHeaders.at(-1)?.authorization).toBe('Bearer one');
    file('token', 'two');
    await expect.poll(() => requestHeaders.at(-1)?.authorization).toBe('Bearer two');
    expect(await read()).toMatchObject({
      trouble: expect.stringMatching(
        `: it answers 403: the token in ${tokenFile} is not enough$`,
      ) as unknown,
    });
    file('token', 'two words');
    const last = () => changes.at(-1);
    const says = (reason: string) => ({
      type: 'source-unreadable',
      reason: `${url.replace(/\?.*/, '')}: ${reason}`,
    });
    await expect
      .poll(last)
      .toMatchObject(says(`the token file is not one word of ASCII: ${tokenFile}`));
    rmSync(tokenFile);
    await expect
      .poll(last)
      .toMatchObject(
        says(`the token file cannot be read: ${tokenFile}: ENOENT: no such file or directory`),
      );
  });

  it('trusts the roots that the CA file has at the time, and no others', async () => {
    const [right, wrong] = await Promise.all([certificateAuthority(), certificateAuthority()]);
    const [{ certChain, key, rootCert }, other] = [await right.issue(), await wrong.issue()];
    const url = `https://127.0.0.1:${await listen(createTlsServer({ cert: certChain, key }, (_, response) => response.end('text')))}/`;
    const caFile = file('ca', 'no PEM');
    const { changes, read } = listenTo(url, { caFile });
    const last = () => changes.at(-1);
    await expect
      .poll(last)
      .toMatchObject({ reason: `${url}: the CA file ${caFile} has no certificate in PEM` });
    file('ca', other.rootCert);
    const reason = expect.stringMatching(
      /(?:self-signed|unable to).*\. Add the roots of its authority to the CA file$/,
    ) as unknown;
    await expect.poll(last).toMatchObject({ type: 'source-unreadable', reason });
    file('ca', rootCert);
    await expect.poll(read).toMatchObject({ content: 'text', trouble: undefined });
  });

  it('says what is wrong with a URL, without its secrets', async () => {
    expect(await reading('no url')).toMatchObject({
      source: 'a text that is not a URL',
      trouble: 'a text that is not a URL: Invalid URL',
    });
    expect(await reading('http://user:word@127.0.0.1:1/a?key=b')).toMatchObject({
      trouble: 'http://127.0.0.1:1/a: connect ECONNREFUSED 127.0.0.1:1',
    });
  });

  it('gives up an answer that does not come, and hangs up', async () => {
    const url = await serve((_, response) => response.write('half'));
    const sockets: Socket[] = [];
    server?.on('connection', (socket: Socket) => sockets.push(socket));
    expect(await reading(url, { timeout: 100 })).toMatchObject({ trouble: 'nothing within 0.1 s' });
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });
});
