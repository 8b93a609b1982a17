import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';
import { ScrapeFault } from './metrics-source.ts';

type Unpack = (packed: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

/** What is read of one source, in bytes after decompression. */
const largestBody = 10 << 20;
/** What Node has since 22.15. */
const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: Unpack };
/** What was unpacked is handed on in such pieces, in bytes. */
const pieceSize = 64 << 10;
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
 * The body as it was before it was compressed. It is unpacked when it is there, on the main thread:
 * Node's own streams wait for a thread of its pool, which may be busy for long. The agent asks for
 * no compression, so this is rare.
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
  for (let at = 0; at < plain.length; at += pieceSize) yield plain.subarray(at, at + pieceSize);
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
