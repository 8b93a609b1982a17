import { expect, it } from 'vitest';
import { numberSet } from '../../../../../src/pilot-agent/status/scrape/number-set.ts';
import { parseSample } from '../../../../../src/pilot-agent/status/scrape/parse-sample.ts';
import { plainRow, rowNames } from '../../../../../src/pilot-agent/status/scrape/plain-row.ts';
import type { FamilyType } from '../../../../../src/pilot-agent/status/scrape/exposition-format.ts';

/** Whether a row of `family` is copied. It is copied as a whole or not at all. */
function copied(row: string, type: FamilyType, family = 'a'): boolean {
  const head = { name: family, type };
  const text = Buffer.from(`${row}\n`);
  const ends = rowNames(head, head, 'text', 'text').map((name) =>
    plainRow(text, 0, name, numberSet()),
  );
  expect(ends.every((end) => end === 0 || end === text.length)).toBe(true);
  return ends.some((end) => end > 0);
}

it.each<[row: string, type: FamilyType]>([
  ['a 1', 'gauge'],
  ['a{b="c"} 1', 'counter'],
  ['a{b="c\\"\\\\\\n}, ",_d9="# "} .5e-7', 'gauge'],
  ['a{b="c",le="x"} -Inf', 'gauge'],
  ['a -1.e+3', 'unknown'],
  ['a_bucket{b="c",le="0.5"} 0', 'histogram'],
  ['a_bucket{le="+Inf"} 12', 'histogram'],
  ['a_sum 0.25', 'histogram'],
  ['a_count{b="c"} 3', 'summary'],
  ['a{quantile="0.99"} 4', 'summary'],
  ['a{quantile="1"} 4', 'summary'],
])('copies %s, a %s', (row, type) => {
  expect(copied(row, type)).toBe(true);
});

it.each<[row: string, type: FamilyType]>([
  ['a  1', 'gauge'],
  ['a 1 ', 'gauge'],
  ['a 1 1700000000000', 'gauge'],
  ['a 1\r', 'gauge'],
  ['a{} 1', 'gauge'],
  ['a{b="c",} 1', 'gauge'],
  ['a{b="c", d="e"} 1', 'gauge'],
  ['a{b ="c"} 1', 'gauge'],
  ['a{1b="c"} 1', 'gauge'],
  ['a{b="\\x"} 1', 'gauge'],
  ['a{b="é"} 1', 'gauge'],
  ['a{b="c",b="d"} 1', 'gauge'],
  ['a{le="1",b="c"} 1', 'gauge'],
  ['a nan', 'gauge'],
  ['a Infinity', 'gauge'],
  ['a 1e', 'gauge'],
  ['a .', 'gauge'],
  ['a ', 'gauge'],
  ['a +', 'gauge'],
  ['a 0x1', 'gauge'],
  ['a', 'gauge'],
  ['ab 1', 'gauge'],
  ['a -1', 'counter'],
  ['a NaN', 'counter'],
  ['a_bucket 1', 'histogram'],
  ['a_bucket{le="x"} 1', 'histogram'],
  ['a_bucket{le=""} 1', 'histogram'],
  ['a_sum{le="1"} 1', 'histogram'],
  ['a 1', 'histogram'],
  ['a{quantile="1.5"} 1', 'summary'],
  ['a{quantile="0.5e3"} 1', 'summary'],
  ['a{quantile="-1"} 1', 'summary'],
  ['a{a="on"} 1', 'stateset'],
])('leaves %s, a %s, to who reads it as text', (row, type) => {
  expect(copied(row, type)).toBe(false);
});

it('leaves a row with 17 labels to who reads it as text', () => {
  const labels = (count: number) =>
    Array.from({ length: count }, (_, label) => `l${label}=""`).join(',');
  expect([16, 17].map((count) => copied(`a{${labels(count)}} 1`, 'gauge'))).toEqual([true, false]);
});

it('knows a series by the same number as who reads it as text', () => {
  const head = { name: 'a_total', type: 'counter' } as const;
  const [name] = rowNames(head, { name: 'a', type: 'counter' }, 'text', 'openmetrics');
  const series = numberSet();
  for (const row of ['a_total 1', 'a_total{b="c",d="\\n"} 1', 'a_total{d="e",le="1"} 1']) {
    series.add(parseSample(row)?.series ?? NaN);
    expect(name && plainRow(Buffer.from(`${row}\n`), 0, name, series)).toBe(-row.length - 1);
  }
});
