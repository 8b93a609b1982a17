import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { page } from '../../../../src/pilot-agent/status/page.ts';
import { routes } from '../../../../src/pilot-agent/status/routes.ts';
import { statusParts } from '../../../support/status-parts.ts';

const text = '<!doctype html><style>p{}</style><p>é</p><script>run("a")</script>';
const sha = (inner: string) => `'sha256-${createHash('sha256').update(inner).digest('base64')}'`;

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('the page', () => {
  const handler = page(() => text);
  const without = routes(statusParts({ hasPage: false }));
  const server = createServer((incoming, response) => {
    (incoming.url === '/' ? handler : without('/'))(incoming, response).subscribe();
  });
  beforeAll(() => new Promise<void>((done) => void server.listen(0, '127.0.0.1', done)));
  afterAll(() => void server.close());

  const ask = (headers: Readonly<Record<string, string>> = {}, method = 'GET', path = '/') =>
    new Promise<Answered>((done, fail) => {
      const { port } = server.address() as AddressInfo;
      const clientRequest = request(
        { host: '127.0.0.1', port, method, path, headers, agent: false },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () =>
            done({
              status: response.statusCode,
              headers: response.headers,
              body: Buffer.concat(pieces),
            }),
          );
        },
      );
      clientRequest.on('error', fail).end();
    });

  it('is a text that may run its own script and ask this port, and nothing else', async () => {
    const { status, headers, body } = await ask();
    expect([status, body.toString(), headers['content-type']]).toEqual([
      200,
      text,
      'text/html; charset=utf-8',
    ]);
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src ${sha('run("a")')}`);
    expect(policy).toContain(`style-src ${sha('p{}')}`);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(String(policy)).not.toContain('unsafe');
  });

  it('is compressed for who takes gzip', async () => {
    const { headers, body } = await ask({ 'accept-encoding': 'br, gzip' });
    expect([headers['content-encoding'], gunzipSync(body).toString()]).toEqual(['gzip', text]);
    expect(Number(headers['content-length'])).toBe(body.length);
  });

  it('is not sent again to who has it', async () => {
    const { headers } = await ask();
    const {
      status,
      body,
      headers: again,
    } = await ask({ 'if-none-match': `W/"another", ${String(headers.etag)}` });
    expect([headers.etag?.startsWith('W/"'), status, body.length, again.etag]).toEqual([
      true,
      304,
      0,
      headers.etag,
    ]);
    expect((await ask({ 'if-none-match': 'W/"another"' })).status).toBe(200);
  });

  it('is answered to HEAD by its headers', async () => {
    const [{ headers }, head] = [await ask(), await ask({}, 'HEAD')];
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
      200,
      0,
      headers['content-length'],
    ]);
  });

  it('is not there if it is turned off: the answer is that of a path that is not known', async () => {
    const { status, body } = await ask({}, 'GET', '/off');
    expect([status, body.toString()]).toEqual([404, '404 page not found\n']);
  });
});
