import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  addressesOf,
  knownAddresses,
  localLookup,
} from '../../../../src/shared/http/local-lookup.ts';
import { openSocket } from '../../../../src/shared/http/open-socket.ts';
import { gzipStream } from '../../../../src/pilot-agent/status/scrape/sync-compression.ts';

const looked = vi.hoisted(() => vi.fn());
vi.mock('node:dns', () => ({ lookup: looked }));

const lookUp = (host: string, options: { all?: boolean; family?: number }) =>
  new Promise((done) => localLookup(host, options, (_, ...records) => done(records)));

describe('localhost', () => {
  it.each([
    [
      'localhost',
      { all: true },
      [
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
    ],
    [
      'LOCALHOST.',
      { all: true },
      [
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
    ],
    ['localhost', {}, ['127.0.0.1', 4]],
    ['localhost', { family: 6 }, ['::1', 6]],
  ])('%s with %j is never looked up', async (host, options, expected) => {
    expect(await lookUp(host, options)).toEqual(expected);
    expect(looked).not.toHaveBeenCalled();
  });

  it('has all of its addresses without a look-up', async () => {
    expect(await firstValueFrom(addressesOf('localhost'), { defaultValue: undefined })).toEqual([
      '127.0.0.1',
      '::1',
    ]);
    expect(looked).not.toHaveBeenCalled();
  });

  it.each(['local', 'localhost.example', 'notlocalhost', '10.0.0.1'])(
    '%s is another host',
    (host) => {
      expect(knownAddresses(host)).toEqual([host]);
    },
  );

  it('is ::1 if nobody listens on 127.0.0.1, and the next host after that', async () => {
    const server = createServer().listen(0, '127.0.0.2');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = await firstValueFrom(openSocket(['localhost', '127.0.0.2'], port), {
      defaultValue: undefined,
    });
    expect(socket).toBeDefined();
    await expect(
      firstValueFrom(openSocket(['localhost'], port), { defaultValue: undefined }),
    ).rejects.toThrow('ECONNREFUSED');
    server.close();
  });
});

it.each([0, 1, 65_535, 65_536, 1_000_000])(
  '%i bytes are one member of gzip, in whatever pieces they come',
  async (size) => {
    const bytes = Buffer.alloc(size, 'abc123');
    const stream = gzipStream();
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    for (let from = 0; from < size; from += 10_000)
      stream.write(bytes.subarray(from, from + 10_000));
    stream.end();
    await once(stream, 'end');
    const packed = Buffer.concat(pieces);
    expect(gunzipSync(packed).equals(bytes)).toBe(true);
    expect(packed.readUInt32LE(packed.length - 4)).toBe(size);
  },
);
