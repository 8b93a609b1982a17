import { BehaviorSubject, map } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { looks, untilLate } from '../../src/pilot-agent/status/scrape/metrics-source.ts';
import { marbles } from '../support/marbles/marbles.ts';

/**
 * Draws a scrape of 20 s. The answer of its source comes at `a`, and the turn of that source at
 * `t`. `cuts` contains the reasons why the answer was cut.
 */
function draw(m: RunHelpers, { source, turn }: { readonly source: string; readonly turn: string }) {
  const cuts: string[] = [];
  const answer = { destroy: ({ message }: Error) => cuts.push(message) };
  const isRead$ = new BehaviorSubject(false);
  m.hot(turn).subscribe({ next: () => isRead$.next(true), error: expect.unreachable });
  const open$ = m.cold(source, { a: answer });
  const answer$ = open$.pipe(
    untilLate(isRead$, looks(20_000)),
    map(() => 'a'),
  );
  return { answer$, cuts, lives: open$.subscriptions };
}

const timeout = expect.objectContaining({ reason: 'timeout' }) as unknown;

describe('a source of a scrape of 20 s', () => {
  it(
    'is looked at after 4/5 of it, and then after each 1/20',
    marbles((m) => {
      m.expectObservable(looks(20_000), '^ 19001ms !').toBe('16s a 999ms b 999ms c 999ms d', {
        a: 0,
        b: 1,
        c: 2,
        d: 3,
      });
    }),
  );

  it.each([
    { what: 'that does not answer has 16 s', source: '-', turn: '-', expected: '16s #', cut: [] },
    {
      what: 'that does not answer has 16 s, though it is waited for',
      source: '-',
      turn: 't',
      expected: '16s #',
      cut: [],
    },
    {
      what: 'that is being read has 16 s',
      source: '1s a',
      turn: '2s t',
      expected: '1s a 14999ms #',
      cut: ['timeout'],
    },
    {
      what: 'that answers after its turn has come has 16 s',
      source: '3s a',
      turn: '2s t',
      expected: '3s a 12999ms #',
      cut: ['timeout'],
    },
    {
      what: 'whose turn comes after 16.5 s has 1/20 more',
      source: '1s a',
      turn: '16500ms t',
      expected: '1s a 15999ms #',
      cut: ['timeout'],
    },
    {
      what: 'whose turn comes after 17.5 s has 2/20 more',
      source: '1s a',
      turn: '17500ms t',
      expected: '1s a 16999ms #',
      cut: ['timeout'],
    },
    {
      what: 'whose turn does not come is given up at 19/20',
      source: '1s a',
      turn: '-',
      expected: '1s a 17999ms #',
      cut: ['timeout'],
    },
    {
      what: 'that is read to its end in time is not cut off',
      source: '1s a 9s |',
      turn: '2s t',
      expected: '1s a 9s |',
      cut: [],
    },
  ])('$what', ({ source, turn, expected, cut }) => {
    const drawn: { cuts?: readonly unknown[] } = {};
    marbles((m) => {
      const { answer$, cuts } = draw(m, { source, turn });
      drawn.cuts = cuts;
      m.expectObservable(answer$).toBe(expected, undefined, timeout);
    })();
    expect(drawn.cuts).toEqual(cut);
  });

  it(
    'is let go of when it is late, and when the scrape ends',
    marbles((m) => {
      const late = draw(m, { source: '-', turn: '-' });
      m.expectObservable(late.answer$).toBe('16s #', undefined, timeout);
      m.expectSubscriptions(late.lives).toBe('^ 15999ms !');
      const left = draw(m, { source: '1s a', turn: '2s t' });
      m.expectObservable(left.answer$, '^ 4999ms !').toBe('1s a');
      m.expectSubscriptions(left.lives).toBe('^ 4999ms !');
    }),
  );
});
