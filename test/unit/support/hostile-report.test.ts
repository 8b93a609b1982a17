import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failureOf, type Outcome } from '../../hostile/report.ts';
import { rows } from '../../hostile/rows.ts';

describe('test/hostile/report.md (npm run hostile)', () => {
  const tableLines = readFileSync('test/hostile/report.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  const cells = tableLines.map((line) => line.split('|').map((cell) => cell.trim()));

  it('has each attack, and each holds', () => {
    const results = cells
      .filter(([, name]) => !name?.startsWith('--'))
      .map((row) => [row[1], row.at(-2)]);
    expect(results).toEqual(rows.map(({ name }) => [name, 'holds']));
  });
});

describe('an attack holds', () => {
  const good: Outcome = {
    name: 'a',
    change: { clock: 300, own: 100 },
    during: 100,
    before: 20,
    after: 21.9,
    isTold: true,
    exitCode: undefined,
  };

  it.each<[Partial<Outcome>, string | undefined]>([
    [{}, undefined],
    [{ exitCode: 70 }, 'it ended with 70'],
    [{ isTold: false }, 'nothing was said of it'],
    [{ change: { clock: 600, own: 510 } }, 'it worked 510 ms before the change was there'],
    [{ after: 24 }, 'it keeps 4 MiB'],
  ])('unless %j', (more, reason) => {
    expect(failureOf({ ...good, ...more })).toBe(reason);
  });
});
