import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bars } from '../bench/bars.ts';
import { page, pictures } from '../bench/page.ts';
import results from '../bench/results.json' with { type: 'json' };

it('docs/benchmarks.md and its pictures are made from what the benchmarks have written', async () => {
  expect(readFileSync('docs/benchmarks.md', 'utf8')).toBe(await page(results));
  const drawn = pictures(results);
  expect(existsSync('docs/benchmarks') ? readdirSync('docs/benchmarks').sort() : []).toEqual(
    [...drawn.keys()].sort(),
  );
  for (const [file, svg] of drawn)
    expect(readFileSync(`docs/benchmarks/${file}`, 'utf8')).toBe(svg);
});

const kept = (live: Readonly<Record<string, number>>) => ({
  start: { figures: { live }, notes: [], machine: 'a machine' },
});

it('says where a goal is missed, by whom, and why', async () => {
  expect(await page(kept({ 'Node 20': 120, 'Node 24': 140, 'Go 1.5': 100 }))).toMatch(
    /\*\*exec → LIVE\*\* \(≤ 1.3 × Go 1.5; Node 24\): \w+/,
  );
  expect(await page(kept({ 'Node 20': 120, 'Node 24': 130, 'Go 1.5': 100 }))).not.toContain(
    'missed',
  );
});

it('has the ratio of each contender, and leaves open what was not measured', async () => {
  const [row = ''] =
    /^\| exec → LIVE.*$/m.exec(
      await page(kept({ 'Node 20': 120, 'Node 24': 150, 'Go 1.5': 100 })),
    ) ?? [];
  expect(row.split('|').map((cell) => cell.trim())).toEqual([
    '',
    'exec → LIVE, ms',
    '120',
    '150',
    '100',
    '–',
    '–',
    '1.2 / 1.5 × Go 1.5',
    '≤ 1.3 × Go 1.5',
    '',
  ]);
});

it('draws the longest bar for the largest value, and none beyond the picture', () => {
  const svg = bars({
    title: 'a < b',
    unit: 'ms',
    digits: 0,
    better: 'less',
    values: [
      ['Node 20', 50],
      ['Go 1.5', 100],
      ['bare', -1],
    ],
  });
  expect(
    [...svg.matchAll(/<rect class="(\w+)".*? width="([\d.]+)"/g)].map(([, kind, width]) => [
      kind,
      Number(width),
    ]),
  ).toEqual([
    ['own', 210],
    ['go', 420],
    ['floor', 1],
  ]);
  expect(svg).toContain('a &lt; b');
});
