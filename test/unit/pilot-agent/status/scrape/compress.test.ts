import { expect, it } from 'vitest';
import { compress } from '../../../../../src/pilot-agent/status/scrape/negotiate.ts';

const zstd = { zstdCompressSync: (piece: Buffer) => piece };

it.each([
  { accept: undefined, here: zstd, name: undefined },
  { accept: '', here: zstd, name: undefined },
  { accept: 'gzip', here: zstd, name: 'gzip' },
  { accept: 'gzip, zstd', here: zstd, name: 'zstd' },
  { accept: 'gzip, zstd', here: {}, name: 'gzip' },
  { accept: 'zstd', here: {}, name: undefined },
  { accept: 'zstd;q=0, GZIP;q=0.5', here: zstd, name: 'gzip' },
  { accept: 'br, deflate, identity', here: zstd, name: undefined },
])('an answer for Accept-Encoding "$accept" is compressed by $name', ({ accept, here, name }) => {
  expect(compress(accept, here)?.name).toBe(name);
});
