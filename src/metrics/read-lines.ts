import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import * as zlib from 'node:zlib';
import { ScrapeFault } from './metrics-source.ts';

/** What is read of one source, in bytes after decompression. */
const largestBody = 10 << 20;
/** What Node has since 22.15. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };
/** In characters. A row that is longer is left out. */
const longestLine = 64 << 10;

/**
 * The lines of an answer, as many at a time as one piece of it has; the reader's pace is the
 * sender's. A last line without an end counts only if nothing can be missing. Throws a
 * {@link ScrapeFault} where the answer is too large, cut off or cannot be decompressed.
 */
export async function* readLines(answer: IncomingMessage): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let [size, rest] = [0, ''];
  let skipping = false;
  try {
    for await (const piece of decompressed(answer) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > largestBody) throw new ScrapeFault('too_large');
      const text = decoder.write(piece);
      rest += text; // not looked through again until a line ends: a piece may be one byte
      const lines = text.includes('\n') ? rest.split('\n') : [];
      rest = lines.pop() ?? rest;
      if (skipping && lines.length > 0) {
        lines[0] = '';
        skipping = false;
      }
      if (rest.length > longestLine) {
        rest = '';
        skipping = true;
      }
      if (lines.length > 0) yield lines.map(withoutReturn);
    }
  } catch (error) {
    throw error instanceof ScrapeFault ? error : new ScrapeFault('cut_off');
  } finally {
    if (!answer.readableEnded) answer.destroy();
  }
  const framed = answer.headers['content-length'] !== undefined || answer.headers['transfer-encoding'] !== undefined;
  if (framed && !skipping && rest !== '') yield [withoutReturn(rest)];
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function decompressed(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer;
  const plain = encoding === 'gzip' ? zlib.createGunzip() : encoding === 'zstd' ? createZstdDecompress?.() : undefined;
  if (plain === undefined) throw new ScrapeFault('encoding');
  pipeline(answer, plain, () => undefined); // what fails on the way ends the reading
  return plain;
}
