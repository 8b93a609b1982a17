// Why: docs/decisions/054-accept-is-negotiated-by-hand.md
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { ExpositionFormat } from './exposition-format.ts';
import { gzipStream, zstdStream } from './sync-compression.ts';

export interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  readonly contentType: string;
}

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Returns the format of the answer for a request's `Accept`: OpenMetrics if it is named with a
 * quality (`q`) that is not below that of text; otherwise text. Pure.
 */
export function negotiateFormat(accept = ''): NegotiatedFormat {
  const ranges = accept.split(',').map(parseRange);
  const openmetrics = ranges.filter(({ type }) => type === 'application/openmetrics-text');
  const best = (candidates: readonly MediaRange[]) => Math.max(0, ...candidates.map(quality));
  const text = best(ranges.filter(({ type }) => ['text/plain', 'text/*', '*/*'].includes(type)));
  if (best(openmetrics) === 0 || best(openmetrics) < text)
    return { format: 'text', contentType: 'text/plain; version=0.0.4; charset=utf-8' };
  const old = openmetrics.every(({ parameters }) => parameters.get('version') === '0.0.1');
  return {
    format: 'openmetrics',
    contentType: `application/openmetrics-text; version=${old ? '0.0.1' : '1.0.0'}; charset=utf-8`,
  };
}

function parseRange(range: string): MediaRange {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  return {
    type,
    parameters: new Map(
      parameters.map((parameter) => [
        parameter.replace(/=.*/s, ''),
        parameter.replace(/^[^=]*=/, ''),
      ]),
    ),
  };
}

function quality({ parameters }: MediaRange): number {
  const q = Number(parameters.get('q') ?? 1);
  return q >= 0 && q <= 1 ? q : 0;
}

/** The part of zlib that Node has since 22.15. */
interface MayHaveZstd {
  readonly zstdCompressSync?: (piece: Buffer) => Buffer;
}

export interface Compression {
  readonly name: 'gzip' | 'zstd';
  /** Makes a stream that compresses its input. */
  create(): Transform;
}

/**
 * Returns the compression of the answer for a request's `Accept-Encoding`; undefined for none.
 * Prefers zstd if this Node has it, because it is faster.
 */
export function compress(
  acceptEncoding = '',
  { zstdCompressSync }: MayHaveZstd = zlib as MayHaveZstd,
): Compression | undefined {
  const accepted = acceptEncoding.split(',').flatMap((part) => {
    const [, name, q = '1'] = /^\s*([\w*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(part) ?? [];
    return name !== undefined && Number(q) > 0 ? [name.toLowerCase()] : [];
  });
  if (accepted.includes('zstd') && zstdCompressSync !== undefined)
    return { name: 'zstd', create: () => zstdStream((piece) => zstdCompressSync(piece)) };
  return accepted.includes('gzip') ? { name: 'gzip', create: gzipStream } : undefined;
}
