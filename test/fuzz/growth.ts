/**
 * `node --import tsx test/fuzz/growth.ts [ratio]` reads inputs of each growing shape, of one size
 * and of 16 times that, and prints a line of JSON for each. It is a process of its own: what a
 * parser may hold is limited by the heap that Node is given, and nothing else takes its time.
 */
import type { FuzzedParser } from './parser.ts';
import { parsers } from './parsers.ts';

export interface Growth {
  readonly parser: string;
  readonly shape: string;
  /** CPU time in ms of one reading of the large input, the best of up to five. */
  readonly large: number;
  /** That by the time of one reading of the small one, which has a sixteenth of its size. */
  readonly ratio: number;
}

const factor = 16;
/** In ms: what is faster than this is not compared. */
const tooQuick = 2;

async function cpu(read: () => unknown, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await read();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A ratio up to this is not looked at again: what takes the processor meanwhile only raises it. */
const enough = Number(process.argv[2] ?? 0);

async function growthOf(
  parser: FuzzedParser,
  { shape, size, at: readerOf }: FuzzedParser['growing'][number],
): Promise<Growth> {
  const [small, large] = [readerOf(size), readerOf(size * factor)];
  const tries: { readonly small: number; readonly large: number }[] = [];
  const best = (sizeName: 'small' | 'large') => Math.min(...tries.map((tried) => tried[sizeName]));
  const ratio = () => (best('large') < tooQuick ? 0 : (best('large') * factor) / best('small'));
  do {
    // The same amount of text both times.
    tries.push({ small: await cpu(small, factor), large: await cpu(large, 1) });
  } while (ratio() > enough && tries.length < 5);
  return {
    parser: parser.name,
    shape,
    large: Number(best('large').toFixed(2)),
    ratio: Number(ratio().toFixed(1)),
  };
}

for (const parser of parsers) {
  for (const growing of parser.growing) {
    // Said before it is tried: where this program ends early, the last line says by what.
    console.log(JSON.stringify({ parser: parser.name, shape: growing.shape }));
    console.log(JSON.stringify(await growthOf(parser, growing)));
  }
}
