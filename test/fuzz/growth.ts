/**
 * `node --import tsx test/fuzz/growth.ts [ratio]` reads inputs of each growing shape, of one size
 * and of 16 times that, and prints JSON lines for each. It is a process of its own: the heap of
 * Node limits the memory of a parser, and no other work takes its time.
 */
import type { FuzzedParser } from './parser.ts';
import { parsers } from './parsers.ts';

export interface Growth {
  readonly parser: string;
  readonly shape: string;
  /** CPU time in ms of one reading of the large input, the best of up to five. */
  readonly large: number;
  /** The ratio of `large` to the time for the small input, which has a sixteenth of the size. */
  readonly ratio: number;
}

const factor = 16;
/** In ms: a faster reading is not compared. */
const tooQuick = 2;

async function cpu(read: () => unknown, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await read();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A ratio up to this is not measured again: other work of the processor only raises it. */
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
    // Both measurements read the same amount of text.
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
    // Printed before the measurement: if this program ends early, the last line names the cause.
    console.log(JSON.stringify({ parser: parser.name, shape: growing.shape }));
    console.log(JSON.stringify(await growthOf(parser, growing)));
  }
}
