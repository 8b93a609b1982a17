import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { quiesce } from '../../src/operators/quiesce.ts';
import { marbles } from '../support/marbles/marbles.ts';

const join = (before: string, next: string) => before + next;

describe('quiesce', () => {
  const calmed = () => quiesce<string>(4, 8, join);

  it(
    'waits for silence, but no longer than the longest time',
    marbles((m) => {
      const source$ = m.hot('--a-b-----------c--d--e--f----------');
      const unsub = '        ^-----------------------------------!';
      const expected = '     --------x---------------y----z------';
      m.expectObservable(source$.pipe(calmed()), unsub).toBe(expected, {
        x: 'ab',
        y: 'cde',
        z: 'f',
      });
    }),
  );

  it(
    'is silent while nothing happens',
    marbles((m) => {
      const source$ = m.cold('-');
      const subs = '          ^';
      m.expectObservable(source$.pipe(calmed())).toBe('-');
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'completes at once with an empty source',
    marbles((m) => {
      const source$ = m.cold('---|');
      const expected = '      ---|';
      m.expectObservable(source$.pipe(calmed())).toBe(expected);
    }),
  );

  it(
    'emits what waits when it is due, even if the source has completed',
    marbles((m) => {
      const source$ = m.cold('-ab|');
      const subs = '          ^--!';
      const expected = '      ------(x|)';
      m.expectObservable(source$.pipe(calmed())).toBe(expected, { x: 'ab' });
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'merges the third value as well as the second',
    marbles((m) => {
      const source$ = m.hot(' a-b-c-----------');
      const expected = '      --------x-------';
      m.expectObservable(source$.pipe(calmed())).toBe(expected, { x: 'abc' });
    }),
  );

  it(
    'passes an error on at once and drops what waits',
    marbles((m) => {
      const source$ = m.cold('-a-#');
      m.expectObservable(source$.pipe(calmed())).toBe('---#');
      m.expectSubscriptions(source$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'drops what waits when it is disposed of early',
    marbles((m) => {
      const source$ = m.hot(' -a------------');
      const unsub = '         ^--!';
      const expected = '      ----';
      m.expectObservable(source$.pipe(calmed()), unsub).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(unsub);
    }),
  );

  it(
    'is at once if it needs no silence',
    marbles((m) => {
      const source$ = m.hot(' a--b-c-d---');
      m.expectObservable(source$.pipe(quiesce(0, 0, join))).toBe('a--b-c-d---');
    }),
  );

  it(
    'asks for the length of each window what has been before',
    marbles((m) => {
      const questions: (readonly [number, number])[] = [];
      const quiet = (silence: number, before: number) => {
        questions.push([silence, before]);
        return before + 2;
      };
      //                      [2]    [4  ]
      const source$ = m.hot(' a------bc-------');
      const expected = '      --a---------x---';
      m.expectObservable(source$.pipe(quiesce(quiet, 8, join))).toBe(expected, {
        a: 'a',
        x: 'bc',
      });
      m.flush();
      expect(questions).toEqual([
        [Infinity, 0],
        [7, 2],
      ]);
    }),
  );

  it(
    'waits for one window more, and not for hours, if the clock is put back',
    marbles((m) => {
      const scheduler: SchedulerLike = {
        now: () => asyncScheduler.now() - (asyncScheduler.now() < 2 ? 0 : 3_600_000),
        schedule: asyncScheduler.schedule.bind(asyncScheduler),
      };
      const source$ = m.hot(' a---------------');
      const expected = '      --------a-------';
      m.expectObservable(source$.pipe(quiesce(4, 8, join, scheduler))).toBe(expected);
    }),
  );
});
