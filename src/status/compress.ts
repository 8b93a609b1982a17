import type { Writable } from 'node:stream';
import * as zlib from 'node:zlib';

/** What Node has since 22.15. */
interface MayHaveZstd {
  readonly createZstdCompress?: () => Compressor;
}

type Compressor = NodeJS.ReadWriteStream & Writable;

export interface Compression {
  readonly name: 'gzip' | 'zstd';
  /** Makes a stream that compresses what is written to it. */
  create(): Compressor;
}

/** How an answer is compressed, by a request's `Accept-Encoding`; undefined for not at all. zstd where this Node has it, as it is faster. */
export function compress(acceptEncoding = '', { createZstdCompress }: MayHaveZstd = zlib as MayHaveZstd): Compression | undefined {
  const accepted = acceptEncoding.split(',').flatMap((part) => {
    const [, name, q = '1'] = /^\s*([\w*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(part) ?? [];
    return name !== undefined && Number(q) > 0 ? [name.toLowerCase()] : [];
  });
  if (accepted.includes('zstd') && createZstdCompress !== undefined) return { name: 'zstd', create: () => createZstdCompress() };
  return accepted.includes('gzip') ? { name: 'gzip', create: () => zlib.createGzip({ level: zlib.constants.Z_BEST_SPEED }) } : undefined;
}
