import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';
import { ScrapeFault } from './metrics-source.ts';

type Unpack = (packed: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

/** The limit of one source, in bytes after decompression. */
const largestBody = 10 << 20;
/** A part of zlib that Node has since 22.15. */
const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: Unpack };
/** In bytes: the size of the pieces of a decompressed answer. */
const pieceSize = 64 << 10;
/** In bytes. A longer row is left out. */
const longestLine = 64 << 10;
const lineFeed = 0x0a;
const lineEnd = Buffer.of(lineFeed);

/**
 * Reads the lines of an answer, some at a time, each with its end. The sender is only as fast as
 * the reader. A last line without an end counts only if nothing can be missing. Throws a
 * {@link ScrapeFault} if the answer is too large, cut off or cannot be decompressed.
 */
export async function* readLines(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []; // not searched again until a line ends: a piece may be one byte
  let [size, restSize] = [0, 0];
  let skipping = false;
  try {
    for await (const piece of decompressed(answer)) {
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
  const framed =
    answer.headers['content-length'] !== undefined ||
    answer.headers['transfer-encoding'] !== undefined;
  if (framed && !skipping && restSize > 0) yield Buffer.concat([...rest, lineEnd]);
}

/**
 * Returns the decompressed body. It is decompressed once it is complete, on the main thread: Node's
 * own streams wait for a thread of its pool, which may be busy for long. This is rare, because the
 * agent does not ask for compression.
 */
function decompressed(answer: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer as AsyncIterable<Buffer>;
  const unpack =
    encoding === 'gzip' ? zlib.gunzipSync : encoding === 'zstd' ? zstdDecompressSync : undefined;
  if (unpack === undefined) throw new ScrapeFault('encoding');
  return unpacked(answer, unpack);
}

async function* unpacked(answer: IncomingMessage, unpack: Unpack): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > largestBody) throw new ScrapeFault('too_large');
    pieces.push(piece);
  }
  const plain = whole(Buffer.concat(pieces), unpack);
  for (let offset = 0; offset < plain.length; offset += pieceSize)
    yield plain.subarray(offset, offset + pieceSize);
}

function whole(packed: Buffer, unpack: Unpack): Buffer {
  try {
    return unpack(packed, { maxOutputLength: largestBody });
  } catch (error) {
    throw new ScrapeFault(
      (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'cut_off',
    );
  }
}
