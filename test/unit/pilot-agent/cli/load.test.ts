import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, assert, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { resetInHandshake, startLoad } from '../../../support/load.ts';

const ok = (extra = '') => `HTTP/1.1 200 OK\r\n${extra}Content-Length: 2\r\n\r\nok`;

describe('startLoad', () => {
  let server: Server | undefined;

  const listen = async (newServer: Server) => {
    server = newServer;
    const [port = 0] = await freePorts(1);
    await new Promise<void>((resolve) => newServer.listen(port, '127.0.0.1', resolve));
    return port;
  };
  /**
   * Starts a server. `answer` receives the socket and the number of requests on it, this one
   * included.
   */
  const serve = (answer: (socket: Socket, nth: number) => void) =>
    listen(
      createServer((socket) => {
        let nth = 0;
        socket.on('error', () => undefined);
        socket.on('data', () => answer(socket, ++nth));
      }),
    );

  afterEach(() => server?.close());

  it('counts complete answers and keeps its connections', async () => {
    const load = startLoad({
      port: await serve((socket) => socket.write(ok())),
      mode: 'keep-alive',
      clients: 3,
    });
    await expect.poll(() => load.counts.ok).toBeGreaterThan(100);
    const { ok: answered, failed, retried, connections } = await load.stop();
    assert.isAbove(answered, 100);
    assert.deepEqual({ failed, retried, connections }, { failed: 0, retried: 0, connections: 3 });
  });

  it('puts an answer together from pieces', async () => {
    const port = await serve((socket) => {
      socket.write(ok().slice(0, 10));
      setImmediate(() => socket.write(ok().slice(10)));
    });
    const load = startLoad({ port, mode: 'keep-alive', clients: 1 });
    await expect.poll(() => load.counts.ok).toBeGreaterThan(5);
    assert.equal((await load.stop()).failed, 0);
  });

  it('honours Connection: close, which is not a failure', async () => {
    const port = await serve((socket, nth) =>
      nth === 3 ? socket.end(ok('connection: close\r\n')) : socket.write(ok()),
    );
    const load = startLoad({ port, mode: 'keep-alive', clients: 1 });
    await expect.poll(() => load.counts.connections).toBeGreaterThan(3);
    const { failed, retried } = await load.stop();
    assert.deepEqual({ failed, retried }, { failed: 0, retried: 0 });
  });

  it('retries once, and says so, when a kept connection ends before any byte of the answer', async () => {
    const port = await serve((socket, nth) =>
      nth === 3 ? socket.resetAndDestroy() : socket.write(ok()),
    );
    const load = startLoad({ port, mode: 'keep-alive', clients: 1 });
    await expect.poll(() => load.counts.retried).toBeGreaterThan(3);
    const { failed, ok: answered } = await load.stop();
    assert.equal(failed, 0);
    assert.isAbove(answered, 6);
  });

  it.each([
    [
      'a new connection that ends',
      (socket: Socket) => socket.destroySoon(),
      'closed before the answer',
    ],
    ['a new connection that is reset', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    [
      'half an answer',
      (socket: Socket) => socket.end(ok().slice(0, 20)),
      'closed within the answer',
    ],
    [
      'another status',
      (socket: Socket) => socket.write(ok().replace('200 OK', '503 No')),
      'status 503',
    ],
    ['silence', () => undefined, 'timed out'],
  ])('counts %s as a failure', async (_, answer: (socket: Socket) => unknown, reason) => {
    const load = startLoad({
      port: await serve(answer),
      mode: 'keep-alive',
      clients: 2,
      requestTimeout: 100,
    });
    await expect.poll(() => load.counts.failed).toBeGreaterThan(1);
    const { ok: answered, retried, failed, errors } = await load.stop();
    assert.deepEqual(
      { answered, retried, errors: [...errors] },
      { answered: 0, retried: 0, errors: [[reason, failed]] },
    );
  });

  it('tells a connection that is reset in its TLS handshake from a request that is', async () => {
    const port = await serve((socket) => socket.resetAndDestroy());
    const load = startLoad({ port, mode: 'new-connection', clients: 1, tls: { ca: '' } });
    await expect.poll(() => load.counts.failed).toBeGreaterThan(1);
    const { errors, failed } = await load.stop();
    assert.deepEqual([...errors], [[resetInHandshake, failed]]);
  });

  it('counts refused connections, and ends by itself', async () => {
    const [port = 0] = await freePorts(1);
    const load = startLoad({ port, mode: 'new-connection', clients: 1, maxDuration: 100 });
    await expect.poll(() => load.counts.duration).toBeGreaterThan(0);
    const { failed, errors } = await load.stop();
    assert.deepEqual([...errors], [['ECONNREFUSED', failed]]);
  });

  it('collects the serials that the server shows, and refuses an expired certificate', async () => {
    const ca = await certificateAuthority();
    const first = await ca.issue();
    const expired = await ca.issue({ notAfter: new Date(Date.now() - 1000) });
    const tlsServer = createTlsServer({ cert: first.certChain, key: first.key }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end(ok()));
    });
    tlsServer.on('tlsClientError', () => undefined);
    const load = startLoad({
      port: await listen(tlsServer),
      mode: 'new-connection',
      clients: 1,
      tls: { ca: ca.rootCert },
    });
    await expect.poll(() => load.counts.ok).toBeGreaterThan(2);
    assert.equal(load.counts.failed, 0);
    tlsServer.setSecureContext({ cert: expired.certChain, key: expired.key });
    await expect.poll(() => load.counts.failed).toBeGreaterThan(2);
    const { serials, errors, failed } = await load.stop();
    assert.deepEqual([...errors], [['CERT_HAS_EXPIRED', failed]]);
    assert.deepEqual([...serials], [first.serial]);
  });
});
