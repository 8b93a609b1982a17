import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { ScrapeFault } from './metrics-source.ts';

/** What is read of one source, in bytes after decompression. */
const largestBody = 10 << 20;
/** What Node has since 22.15. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };
/** In bytes. A row that is longer is left out. */
const longestLine = 64 << 10;
const lineFeed = 0x0a;
const lineEnd = Buffer.of(lineFeed);

/**
 * The lines of an answer, some at a time, each with its end; the reader's pace is the sender's. A
 * last line without an end counts only if nothing can be missing. Throws a {@link ScrapeFault}
 * where the answer is too large, cut off or cannot be decompressed.
 */
export async function* readLines(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []; // not looked through again until a line ends: a piece may be one byte
  let [size, restSize] = [0, 0];
  let skipping = false;
  try {
    for await (const piece of decompressed(answer) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > largestBody) throw new ScrapeFault('too_large');
      const end = piece.lastIndexOf(lineFeed) + 1;
      if (end > 0) {
        const start = skipping ? piece.indexOf(lineFeed) + 1 : 0;
        const whole = piece.subarray(start, end);
        if (rest.length > 0) yield Buffer.concat([...rest, whole]);
        else if (whole.length > 0) yield whole;
        [rest, restSize, skipping] = [[], 0, false];
      }
      if (end < piece.length && !skipping) {
        rest.push(piece.subarray(end));
        restSize += piece.length - end;
      }
      if (restSize > longestLine) [rest, restSize, skipping] = [[], 0, true];
    }
  } catch (error) {
    throw error instanceof ScrapeFault ? error : new ScrapeFault('cut_off');
  } finally {
    if (!answer.readableEnded) answer.destroy();
  }
  const framed = answer.headers['content-length'] !== undefined || answer.headers['transfer-encoding'] !== undefined;
  if (framed && !skipping && restSize > 0) yield Buffer.concat([...rest, lineEnd]);
}

function decompressed(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer;
  const plain = encoding === 'gzip' ? zlib.createGunzip() : encoding === 'zstd' ? createZstdDecompress?.() : undefined;
  if (plain === undefined) throw new ScrapeFault('encoding');
  pipeline(answer, plain, () => undefined); // what fails on the way ends the reading
  return plain;
}
