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

/** So many lines, or characters, are given at a time: 1 to 5 ms of work. */
const slice = { lines: 1_000, text: 64 << 10 };

/**
 * The lines of an answer, some at a time; the reader's pace is the sender's. Before many of them it
 * waits for `pause`, so that nothing else waits for them. A last line without an end counts only if
 * nothing can be missing. Throws a {@link ScrapeFault} where the answer is too large, cut off or
 * cannot be decompressed.
 */
export async function* readLines(answer: IncomingMessage, pause: () => Promise<void>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let [size, rest] = [0, ''];
  let skipping = false;
  try {
    for await (const piece of decompressed(answer) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > largestBody) throw new ScrapeFault('too_large');
      const text = decoder.write(piece);
      rest += text; // not looked through again until a line ends: a piece may be one byte
      if (text.includes('\n')) {
        const start = skipping ? rest.indexOf('\n') + 1 : 0;
        const end = rest.lastIndexOf('\n') + 1;
        const whole = rest.slice(start, end);
        rest = rest.slice(end);
        skipping = false;
        for (const lines of slices(whole)) {
          if (lines.length >= slice.lines || whole.length > slice.text) await pause();
          yield lines;
        }
      }
      if (rest.length > longestLine) {
        rest = '';
        skipping = true;
      }
    }
  } catch (error) {
    throw error instanceof ScrapeFault ? error : new ScrapeFault('cut_off');
  } finally {
    if (!answer.readableEnded) answer.destroy();
  }
  const framed = answer.headers['content-length'] !== undefined || answer.headers['transfer-encoding'] !== undefined;
  if (framed && !skipping && rest !== '') yield [withoutReturn(rest)];
}

/** Cut when they are asked for: whoever waits for his turn holds one text, not thousands. */
function* slices(whole: string): Generator<readonly string[]> {
  for (let at = 0; at < whole.length;) {
    const lines: string[] = [];
    const start = at;
    while (at < whole.length && lines.length < slice.lines && at - start < slice.text) {
      const end = whole.indexOf('\n', at);
      lines.push(withoutReturn(whole.slice(at, end)));
      at = end + 1;
    }
    yield lines;
  }
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
