import { describe, it } from 'vitest';
import { coalesce } from '../../src/operators/coalesce.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('coalesce', () => {
  it(
    'is silent while nothing happens',
    marbles((m) => {
      const source$ = m.cold('-');
      const subs = '         ^';
      const expected = '     -';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'completes at once with an empty source',
    marbles((m) => {
      const source$ = m.cold('---|');
      const subs = '         ^--!';
      const expected = '     ---|';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'emits a single value at the end of its window, even if the source has completed',
    marbles((m) => {
      const source$ = m.cold('-a-|');
      const subs = '         ^--!';
      //                      [ 10s    ]
      const expected = '     - 10s (a|)';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'emits the latest of many values, the third as well as the second',
    marbles((m) => {
      const source$ = m.hot(' a 1s b 1s c 20s d 20s |');
      //                     [ 10s     ]     [ 10s  ]
      const expected = '     10s c 22002ms d 10s |';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
    }),
  );

  it(
    'does not let a late value extend the window',
    marbles((m) => {
      const source$ = m.hot(' a 9998ms b -');
      //                     [ 10s      ]
      const expected = '     10s        b';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
    }),
  );

  it(
    'does not let a steady trickle starve the reader',
    marbles((m) => {
      const source$ = m.hot(' a 3999ms b 3999ms c 3999ms d 3999ms e 3999ms f');
      //                     [ 10s            ]        [ 10s            ]
      const expected = '     10s               c 11999ms               f';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
    }),
  );

  it(
    'passes an error on at once and drops what is pending',
    marbles((m) => {
      const source$ = m.cold('-a-#');
      const subs = '         ^--!';
      //                      [ 10s
      const expected = '     ---#';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'opens the next window at the next value of a source that never ends',
    marbles((m) => {
      const source$ = m.hot(' a 59999ms b -');
      const subs = '         ^';
      //                     [ 10s ]   [ 10s ]
      const expected = '     10s a 59999ms b -';
      m.expectObservable(source$.pipe(coalesce(10_000))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    'drops what is pending when it is disposed of early',
    marbles((m) => {
      const source$ = m.hot(' a 20s b -');
      const unsub = '        ^ 5s !';
      //                     [ 10s
      const expected = '     -';
      m.expectObservable(source$.pipe(coalesce(10_000)), unsub).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(unsub);
    }),
  );
});
