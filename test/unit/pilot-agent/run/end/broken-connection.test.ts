import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { uncaughtSign } from '../../../../../src/pilot-agent/run/end/broken-connection.ts';

/** Returns the error of a connection to a peer that does this with it. */
async function errorOf(
  peer: (socket: Socket) => void,
  open: (port: number) => NodeJS.EventEmitter,
): Promise<unknown> {
  const server = createServer(peer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const connection = open((server.address() as AddressInfo).port);
    return await new Promise((done) => connection.on('error', done));
  } finally {
    server.close();
  }
}

const tcp = (port: number) => connect({ host: '127.0.0.1', port });
const writing = (socket: Socket) =>
  socket.on('connect', () => setInterval(() => socket.write('a'), 1).unref());
const resets = (socket: Socket) => void socket.resetAndDestroy();
const says = (bytes: string) => (socket: Socket) =>
  void socket.on('error', () => undefined).end(bytes);

describe('an exception that nobody has caught', () => {
  it.each<[what: string, error: () => Promise<unknown>]>([
    ['a reset', () => errorOf(resets, (port) => tcp(port).on('connect', () => undefined))],
    ['a write after a reset', () => errorOf(resets, (port) => writing(tcp(port)))],
    ['a refused connection', () => new Promise((done) => tcp(1).on('error', done))],
    [
      'TLS that is none',
      () => errorOf(says('hello'), (port) => connectTls({ host: '127.0.0.1', port })),
    ],
    [
      'HTTP/2 that is none',
      () =>
        errorOf(says('HTTP/1.1 400 Bad Request\r\n\r\n'), (port) =>
          connectHttp2(`http://127.0.0.1:${port}`),
        ),
    ],
  ])('is not a bug if a peer has caused it: %s', async (_, error) => {
    expect(uncaughtSign(await error())).toMatchObject({
      type: 'connection-broken',
      reason: expect.stringMatching(/./) as string,
    });
  });

  it.each<[what: string, error: unknown]>([
    ['of the program', new TypeError('x is not a function')],
    ['of a file', Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC', syscall: 'write' })],
    [
      'of a server that cannot listen',
      Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', syscall: 'listen' }),
    ],
    ['of a process', Object.assign(new Error('spawn EPIPE'), { code: 'EPIPE', syscall: 'spawn' })],
    ['a rejection without a reason', undefined],
    ['that only looks like one', { code: 'ECONNRESET', syscall: 'read' }],
    ['a misuse of HTTP/2', Object.assign(new Error('x'), { code: 'ERR_HTTP2_INVALID_STREAM' })],
  ])('is a bug: %s', (_, error) => {
    expect(uncaughtSign(error)).toMatchObject({ type: 'bug' });
  });
});
