import { describe, expect, it } from 'vitest';
import { epochByKey } from '../../../../src/pilot-agent/page/epoch-keys.ts';
import { age, duration } from '../../../../src/pilot-agent/page/time-text.ts';
import { bytes, number } from '../../../../src/pilot-agent/page/number-text.ts';
import { drawn, ticks } from '../../../../src/pilot-agent/page/timeline.ts';
import { scrollTo, visibleRows } from '../../../../src/pilot-agent/page/visible-rows.ts';
import { shownPast } from '../../../../src/pilot-agent/report/shown-past.ts';
import type { EpochReport } from '../../../../src/pilot-agent/report/epoch-report.ts';
import { aLife } from '../../../support/browser/agent-life.ts';

const now = Date.parse('2026-11-22T12:00:00.000Z');
const { epochs } = aLife(now).report;
const span = { from: now - 600_000, to: now };

/** Returns short lives, one after the other. */
const many = (count: number, each: number): readonly EpochReport[] =>
  Array.from({ length: count }, (_, epoch): EpochReport => {
    const timeAt = (ms: number) => new Date(now - (count - epoch) * each + ms).toISOString();
    const exit = { kind: 'failed', expected: epoch % 10 !== 0, code: 1, lastWords: [] } as const;
    return {
      epoch,
      state: 'ended',
      hash: 'a',
      lineage: 0,
      why: 'change',
      changed: [],
      launchedAt: timeAt(0),
      liveAt: timeAt(1),
      endedAt: timeAt(each - 1),
      exit,
    };
  });

describe('the timeline', () => {
  const shown = drawn(epochs, span, now, 600);

  it('has a parent and its child in two lanes, and reuses a lane that is free', () => {
    expect(
      shown.map((shape) =>
        shape.kind === 'epoch' ? `${shape.epoch.epoch} in ${shape.lane}` : 'cluster',
      ),
    ).toEqual(['0 in 0', '1 in 1', '2 in 0', '3 in 1', '4 in 0']);
  });

  it('has the stages of an epoch one after the other, a second a pixel, and its crash', () => {
    const [first, second] = shown;
    expect(first).toMatchObject({
      x: 60,
      segments: [
        { stage: 'starting', x: 60 },
        { stage: 'live', width: 89.52 },
        { stage: 'draining', x: 150, width: 45 },
      ],
      end: { x: 195, crashed: false },
    });
    expect(second).toMatchObject({ end: { crashed: true } });
  });

  it('cuts at the edges what is partly outside, and leaves out what is outside', () => {
    const near = drawn(epochs, { from: now - 10_000, to: now }, now, 100);
    expect(
      near.map((shape) => [shape.kind === 'epoch' ? shape.epoch.epoch : -1, shape.x, shape.width]),
    ).toEqual([
      [3, 0, 100],
      [4, 0, 100],
    ]);
  });

  it('draws 1,000 short lives as a few clusters that have all of them and their crashes', () => {
    const thousand = many(1_000, 500);
    const few = drawn(
      thousand,
      shownPast(Date.parse(thousand[0]?.launchedAt ?? ''), now),
      now,
      800,
    );
    const sum = (what: 'count' | 'crashed') =>
      few.reduce((all, shape) => all + (shape.kind === 'cluster' ? shape[what] : 1), 0);
    expect(few.length).toBeLessThan(100);
    expect([sum('count'), sum('crashed')]).toEqual([1_000, 100]);
  });

  it('always draws the epoch that is selected as itself', () => {
    const thousand = many(1_000, 500);
    const few = drawn(
      thousand,
      shownPast(Date.parse(thousand[0]?.launchedAt ?? ''), now),
      now,
      800,
      412,
    );
    expect(few.filter((shape) => shape.kind === 'epoch').map((shape) => shape.epoch.epoch)).toEqual(
      [412],
    );
  });

  it('has whole times at its axis, not too close', () => {
    expect(ticks(span, 600)).toEqual([10, 8, 6, 4, 2, 0].map((minutes) => now - minutes * 60_000));
    expect(ticks({ from: now - 10_000, to: now }, 1_000).length).toBeLessThan(12);
  });
});

describe('the keys', () => {
  it.each([
    ['ArrowLeft', 'across', 2, 1],
    ['ArrowRight', 'across', 2, 3],
    ['ArrowRight', 'across', 4, 4],
    ['Home', 'across', 2, 0],
    ['ArrowDown', 'down', 2, 1],
    ['ArrowUp', 'down', 2, 3],
    ['Home', 'down', 2, 4],
    ['PageDown', 'down', 2, 0],
    ['a', 'down', 2, undefined],
  ] as const)('%s %s leads from %i to %s', (key, direction, from, to) => {
    expect(epochByKey(epochs, from, key, direction)).toBe(to);
  });
});

describe('a long list', () => {
  it('has the rows that are seen, and some more', () => {
    expect(visibleRows(100_000, 0, 400, 20)).toEqual({ first: 0, last: 32 });
    expect(visibleRows(100_000, 20_000, 400, 20)).toEqual({ first: 988, last: 1_032 });
    expect(visibleRows(3, 900, 400, 20)).toEqual({ first: 3, last: 3 });
  });

  it('is scrolled no farther than it has to be', () => {
    expect([scrollTo(5, 0, 400, 20), scrollTo(40, 0, 400, 20), scrollTo(2, 100, 400, 20)]).toEqual([
      0, 420, 40,
    ]);
  });
});

describe('numbers as text', () => {
  it.each([
    [0, '0 ms'],
    [512, '512 ms'],
    [4_250, '4.2 s'],
    [42_900, '42 s'],
    [185_000, '3 min 5 s'],
    [180_000, '3 min'],
    [7_260_000, '2 h 1 min'],
    [90_000_000, '25 h'],
    [260_000_000, '3 d'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('an age is in whole seconds', () => {
    expect([age(-5), age(999), age(4_250), age(61_500)]).toEqual([
      '0 s',
      '0 s',
      '4 s',
      '1 min 1 s',
    ]);
  });

  it('has three digits that count', () => {
    expect([number(0.254), number(12.34), number(1234.5), bytes(512), bytes(50_000_000)]).toEqual([
      '0.25',
      '12.3',
      '1,235',
      '512 B',
      '47.7 MiB',
    ]);
  });
});
