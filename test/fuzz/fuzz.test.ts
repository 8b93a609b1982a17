import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Growth } from './growth.ts';
import { parsers } from './parsers.ts';

/** The number of inputs of each parser, if the variable does not set another. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);

describe('what comes from outside makes no parser throw', () => {
  it.each(parsers)('$name', { timeout: 180_000 + numRuns * 50 }, async ({ takesAll }) => {
    await fc.assert(takesAll, { numRuns });
  });
});

/** In MiB: the heap in which all parsers read all growing inputs. */
const heap = 256;
/** The largest ratio of the time for an input to the time for one of a sixteenth of its size. */
const allowed = 64;

it(`nothing grows faster than n log n, in a heap of ${heap} MiB`, () => {
  const args = [
    `--max-old-space-size=${heap}`,
    '--import',
    'tsx',
    'test/fuzz/growth.ts',
    String(allowed),
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 900_000,
  });
  const lines = stdout.trimEnd().split('\n');
  expect({ status, stderr }, lines.at(-1)).toEqual({ status: 0, stderr: '' });
  const grown = lines.map((line) => JSON.parse(line) as Partial<Growth>);
  expect(grown.filter(({ ratio = 0 }) => ratio > allowed)).toEqual([]);
  expect(new Set(grown.map(({ parser }) => parser))).toEqual(
    new Set(parsers.map(({ name }) => name)),
  );
}, 960_000);
