import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { page } from '../bench/page.ts';
import results from '../bench/results.json' with { type: 'json' };

it('docs/benchmarks.md is made from what the benchmarks have written', async () => {
  expect(readFileSync('docs/benchmarks.md', 'utf8')).toBe(await page(results));
});
