import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { promisify } from 'node:util';
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerDuplexStream,
  status,
} from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boundedMessages } from '../../../../src/shared/grpc/bounded-messages.ts';
import { connection, openStream, prefix } from '../../../hostile/raw-grpc.ts';

const asItIs = (bytes: Buffer) => bytes;
const path = '/test.Echo/Echo';
const echo = {
  path,
  requestStream: true,
  responseStream: true,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
};

/** Returns a message of this length, or the first `sent` bytes of it. */
const message = (length: number, sent = length) =>
  Buffer.concat([prefix(length), Buffer.alloc(sent)]);

describe('boundedMessages', () => {
  let server: Server;
  let port: number;
  let reasons: string[];
  let received: number[];
  const sessions: ClientHttp2Session[] = [];
  beforeEach(async () => {
    [reasons, received] = [[], []];
    const bounds = boundedMessages(
      { ServerInterceptingCall, status },
      { ofConnection: 100_000, inAll: 150_000 },
      (_, reason) => reasons.push(reason),
    );
    server = new Server({ interceptors: [bounds] });
    server.addService(
      { echo },
      {
        echo: (call: ServerDuplexStream<Buffer, Buffer>) => {
          call.on('data', (bytes: Buffer) => {
            received.push(bytes.length);
            if (bytes.length === 13) call.emit('error', { code: 3, details: 'not 13' });
            else call.write(bytes);
          });
          call.on('error', () => undefined);
        },
      },
    );
    port = await promisify(server.bindAsync.bind(server))(
      '127.0.0.1:0',
      ServerCredentials.createInsecure(),
    );
  });
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
    server.forceShutdown();
  });

  const connected = () => {
    const session = connection(port);
    sessions.push(session);
    return session;
  };
  /** Returns the status at the end of a stream, while the client goes on. */
  const endOf = async (stream: ClientHttp2Stream): Promise<string> => {
    const endHeaders: IncomingHttpHeaders = {};
    for (const event of ['response', 'trailers'])
      stream.on(event, (headers: IncomingHttpHeaders) => Object.assign(endHeaders, headers));
    await once(stream, 'close');
    return `${String(endHeaders['grpc-status'])} ${decodeURIComponent(String(endHeaders['grpc-message']))} ${stream.rstCode}`;
  };

  /** Waits until the server has read what was written before: it answers in order. */
  const arrived = async ({ session }: ClientHttp2Stream) => {
    await new Promise((done) => session?.ping(done));
  };

  it('ends a stream that brings its connection beyond the bound, and no other stream', async () => {
    const session = connected();
    const [first, second] = [openStream(session, path), openStream(session, path)];
    first.write(message(90_000, 60_000));
    second.write(message(90_000, 60_000));
    const reason = 'unfinished messages of its connection have more than 100000 bytes';
    expect(await endOf(second)).toBe(`8 ${reason} 0`);
    first.write(Buffer.alloc(30_000));
    await expect.poll(() => received).toEqual([90_000]);
    expect(reasons).toEqual([reason]);
  });

  it('ends the oldest message if all connections are beyond the bound', async () => {
    const [old, second, third] = [
      openStream(connected(), path),
      openStream(connected(), path),
      openStream(connected(), path),
    ];
    old.write(message(90_000, 60_000));
    await arrived(old);
    second.write(message(90_000, 60_000));
    await arrived(second);
    const ended = endOf(old);
    third.write(message(90_000));
    expect(await ended).toBe('8 unfinished messages of all clients have more than 150000 bytes 0');
    second.write(Buffer.alloc(30_000));
    await expect.poll(() => received.length).toBe(2);
  });

  it('no longer counts the bytes of a stream that the client has reset', async () => {
    const session = connected();
    for (let count = 0; count < 3; count += 1) {
      const reset = openStream(session, path);
      reset.write(message(90_000, 60_000));
      await arrived(reset);
      reset.close(8); // CANCEL
      await once(reset, 'close');
    }
    openStream(session, path).write(message(90_000));
    await expect.poll(() => received).toEqual([90_000]);
    expect(reasons).toEqual([]);
  });

  it('takes any number of messages that are finished', async () => {
    const stream = openStream(connected(), path);
    for (let count = 0; count < 20; count += 1) stream.write(message(90_000));
    await expect.poll(() => received.length).toBe(20);
    expect(reasons).toEqual([]);
  });

  it('ends a stream with a compressed message before it is unpacked', async () => {
    const [unanswered, answered] = [openStream(connected(), path), openStream(connected(), path)];
    const compressed = message(9);
    compressed[0] = 1;
    const ended = endOf(unanswered);
    unanswered.write(compressed);
    expect(await ended).toBe('12 compressed messages are not accepted 0');
    answered.write(message(7));
    await once(answered, 'response');
    answered.write(compressed);
    // ENHANCE_YOUR_CALM, for an answer has begun.
    await expect.poll(() => answered.rstCode).toBe(11);
    expect(received).toEqual([7]);
  });

  it('ends a stream with much metadata', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`x-${index}`, 'a'.repeat(4_000)]),
    );
    expect(await endOf(openStream(connected(), path, headers))).toMatch(
      /^8 its metadata has \d+ bytes, and the limit is 16384 0$/,
    );
  });

  it.each([
    ['that has no answer yet', []],
    ['that has an answer', [7]],
  ])(
    'closes a stream %s when the server has ended it, though the client goes on',
    async (_, before) => {
      const stream = openStream(connected(), path);
      for (const length of before) stream.write(message(length));
      if (before.length > 0) await once(stream, 'response');
      const ended = endOf(stream);
      stream.write(message(13));
      expect(await ended).toBe('3 not 13 0');
    },
  );
});
