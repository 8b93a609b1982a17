import {
  asyncScheduler,
  concat,
  EMPTY,
  map,
  NEVER,
  of,
  type SchedulerLike,
  Subject,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { quiesce } from '../../src/operators/quiesce.ts';
import { marbles } from './support/marbles.ts';

const join = (before: string, next: string) => before + next;

describe('quiesce', () => {
  it(
    'waits for silence, no longer than the longest time, and for what is under way',
    marbles((m) => {
      const source$ = m.hot('--a-b-----------c--d--e--f----------');
      const unsub = '        ^-----------------------------------!';
      const busy = '         ------------------------t--------f--';
      const expected = '     --------x---------------y--------z--';
      const built$ = new Subject<string>();
      // What takes y is busy with it for 9 ms.
      const busy$ = built$.pipe(
        switchMap((value) =>
          value === 'cde' ? concat(of(true), timer(9).pipe(map(() => false))) : EMPTY,
        ),
      );
      const told$ = new Subject<boolean>();
      const out$ = source$.pipe(
        quiesce(4, 8, busy$.pipe(tap(told$)), join),
        tap((value) => built$.next(value)),
      );
      m.expectObservable(told$, unsub).toBe(busy, { t: true, f: false });
      m.expectObservable(out$, unsub).toBe(expected, { x: 'ab', y: 'cde', z: 'f' });
    }),
  );

  function calmed(m: RunHelpers, busy = '-') {
    return quiesce<string>(4, 8, m.cold(busy, { t: true, f: false }), join);
  }

  it(
    'is silent while nothing happens',
    marbles((m) => {
      const source$ = m.cold('-');
      const subs = '          ^';
      m.expectObservable(source$.pipe(calmed(m))).toBe('-');
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'completes at once with an empty source, even while busy',
    marbles((m) => {
      const source$ = m.cold('---|');
      const expected = '      ---|';
      m.expectObservable(source$.pipe(calmed(m))).toBe(expected);
      m.expectObservable(source$.pipe(calmed(m, 't'))).toBe(expected);
    }),
  );

  it(
    'emits what waits when it is due, even if the source has completed',
    marbles((m) => {
      const source$ = m.cold('-ab|');
      const subs = '          ^--!';
      const expected = '      ------(x|)';
      m.expectObservable(source$.pipe(calmed(m))).toBe(expected, { x: 'ab' });
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'merges the third value as well as the second',
    marbles((m) => {
      const source$ = m.hot(' a-b-c-----------');
      const expected = '      --------x-------';
      m.expectObservable(source$.pipe(calmed(m))).toBe(expected, { x: 'abc' });
    }),
  );

  it(
    'passes an error on at once and drops what waits, be it of the source or of what is under way',
    marbles((m) => {
      const source$ = m.cold('-a-#');
      const busy = '          --#';
      m.expectObservable(source$.pipe(calmed(m))).toBe('---#');
      m.expectObservable(source$.pipe(calmed(m, busy))).toBe('--#');
      m.expectSubscriptions(source$.subscriptions).toBe(['^--!', '^-!']);
    }),
  );

  it(
    'drops what waits when it is disposed of early',
    marbles((m) => {
      const source$ = m.hot(' -a------------');
      const unsub = '         ^--!';
      const expected = '      ----';
      m.expectObservable(source$.pipe(calmed(m)), unsub).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(unsub);
    }),
  );

  it(
    'emits at once when it is not busy any more, if the window has ended by then',
    marbles((m) => {
      const source$ = m.hot(' a---------------');
      m.expectObservable(source$.pipe(calmed(m, 't----f'))).toBe('  -----a'); // long after its end
      m.expectObservable(source$.pipe(calmed(m, 't---f'))).toBe('   ----a'); // at its end
      m.expectObservable(source$.pipe(calmed(m, 't--f'))).toBe('    ----a'); // before it
      m.expectObservable(source$.pipe(calmed(m, 't----|'))).toBe('  -----a'); // for good
    }),
  );

  it(
    'waits on after a value that came while busy, but not beyond the longest time',
    marbles((m) => {
      m.expectObservable(m.hot('a----b--------').pipe(calmed(m, 't-----f'))).toBe('--------x', {
        x: 'ab',
      });
      m.expectObservable(m.hot('a---------b---').pipe(calmed(m, 't----------f'))).toBe(
        '-----------x',
        { x: 'ab' },
      );
    }),
  );

  it(
    'is at once where it needs no silence, and while busy it merges what comes',
    marbles((m) => {
      const source$ = m.hot(' a--b-c-d---');
      const busy = '          -t-----f----';
      const expected = '      a------x----';
      const busy$ = m.cold(busy, { t: true, f: false });
      m.expectObservable(source$.pipe(quiesce(0, 0, busy$, join))).toBe(expected, {
        a: 'a',
        x: 'bcd',
      });
    }),
  );

  it(
    'asks for the length of each window what has been before',
    marbles((m) => {
      const asked: (readonly [number, number])[] = [];
      const quiet = (silence: number, before: number) => {
        asked.push([silence, before]);
        return before + 2;
      };
      //                      [2]    [4  ]
      const source$ = m.hot(' a------bc-------');
      const expected = '      --a---------x---';
      m.expectObservable(source$.pipe(quiesce(quiet, 8, NEVER, join))).toBe(expected, {
        a: 'a',
        x: 'bc',
      });
      m.flush();
      expect(asked).toEqual([
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
      m.expectObservable(source$.pipe(quiesce(4, 8, NEVER, join, scheduler))).toBe(expected);
    }),
  );
});
