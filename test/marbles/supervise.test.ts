import { concat, defer, type Observable, of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { supervise } from '../../src/operators/supervise.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

/**
 * Emits the values of a source as they are, and for each failure the pause until the next attempt.
 */
const pauses = (chance: number) =>
  supervise<string, number>(
    (_, delay) => delay,
    () => chance,
  );
const even = 0.5;

/** Returns an Observable whose n-th subscription gets the n-th of `lives`; the last one repeats. */
function oneAfterTheOther<T>(...lives: readonly Observable<T>[]): Observable<T> {
  let next = 0;
  return defer(
    () => lives[Math.min(next++, lives.length - 1)] ?? throwError(() => new Error('there is none')),
  );
}

describe('supervise', () => {
  it.each([
    { what: 'is silent with a silent source', diagram: '-', expected: '-', subs: '^' },
    {
      what: 'completes with its source',
      diagram: '    -a-b-|',
      expected: '-a-b-|',
      subs: '^----!',
    },
    { what: 'passes on what comes', diagram: '          -a-b-', expected: '-a-b-', subs: '^' },
  ])('$what', ({ diagram, expected, subs }) => {
    marbles((m) => {
      const source$ = m.cold(diagram);
      m.expectObservable(source$.pipe(pauses(even))).toBe(expected);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    })();
  });

  it(
    'tells an error, and subscribes again after 200 ms, not before and not later',
    marbles((m) => {
      const first$ = m.cold('1s a 999ms #');
      const second$ = m.cold('-b');
      const unsub = '^ 9999ms !';
      m.expectObservable(oneAfterTheOther(first$, second$).pipe(pauses(even)), unsub).toBe(
        at({ '1s': 'a', '2s': 'f', '2.201s': 'b' }),
        {
          ...{ a: 'a', b: 'b', f: 200 },
        },
      );
      m.expectSubscriptions(first$.subscriptions).toBe(at({ '0s': '^', '2s': '!' }));
      m.expectSubscriptions(second$.subscriptions).toBe(at({ '2.2s': '^', '10s': '!' }));
    }),
  );

  it(
    'waits twice as long after each further failure, up to 30 s',
    marbles((m) => {
      const source$ = m.cold('#');
      const [a, b, c, d, e, f, g, h] = [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600];
      const expected = at({
        '0s': 'a',
        '200ms': 'b',
        '600ms': 'c',
        '1.4s': 'd',
        '3s': 'e',
        '6.2s': 'f',
        '12.6s': 'g',
        '25.4s': 'h',
        '51s': 'i',
        '81s': 'i',
        '111s': 'i',
      });
      m.expectObservable(source$.pipe(pauses(even)), '^ 119999ms !').toBe(expected, {
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i: 30_000,
      });
    }),
  );

  it.each([
    { chance: 0, pause: 160 },
    { chance: 0.999_99, pause: 240 },
  ])('waits up to a fifth less or more: $pause ms', ({ chance, pause }) => {
    marbles((m) => {
      const [first$, second$] = [m.cold('#'), m.cold('b')];
      const expected = at({ '0s': 'f', [`${pause}ms`]: 'b' });
      m.expectObservable(oneAfterTheOther(first$, second$).pipe(pauses(chance))).toBe(expected, {
        f: pause,
        b: 'b',
      });
    })();
  });

  it.each([
    {
      what: 'is a row of failures before a minute is over',
      life: '59999ms #',
      second: '60.199s',
      pause: 400,
    },
    { what: 'begins anew after a minute without one', life: '60s #', second: '60.2s', pause: 200 },
  ] as const)('$what', ({ life, second, pause }) => {
    marbles((m) => {
      const source$ = oneAfterTheOther<string>(m.cold('#'), m.cold(life), m.cold('-'));
      m.expectObservable(source$.pipe(pauses(even)), '^ 2m !').toBe(
        at({ '0s': 'f', [second]: 's' }),
        { f: 200, s: pause },
      );
    })();
  });

  it(
    'takes an exception on subscribe for an error',
    marbles((m) => {
      const source$ = oneAfterTheOther(
        defer((): Observable<string> => {
          throw new Error('no');
        }),
        of('a'),
      );
      m.expectObservable(
        source$.pipe(
          supervise(
            (error) => (error as Error).message,
            () => even,
          ),
        ),
      ).toBe(at({ '0s': 'f', '200ms': 'a|' }), { f: 'no', a: 'a' });
    }),
  );

  it(
    'loses nothing that comes before an error in the same moment',
    marbles((m) => {
      const source$ = oneAfterTheOther<string>(
        concat(
          of('a', 'b'),
          throwError(() => new Error('no')),
        ),
        m.cold('c|'),
      );
      m.expectObservable(source$.pipe(pauses(even))).toBe(
        at({ '0s': 'abf', '200ms': 'c', '201ms': '|' }),
        {
          ...{ a: 'a', b: 'b', c: 'c', f: 200 },
        },
      );
    }),
  );

  it(
    'does not try again once it is unsubscribed',
    marbles((m) => {
      const [first$, second$] = [m.cold('1s #'), m.cold('b')];
      const unsub = '^ 1198ms !';
      m.expectObservable(oneAfterTheOther(first$, second$).pipe(pauses(even)), unsub).toBe('1s f', {
        f: 200,
      });
      m.expectSubscriptions(second$.subscriptions).toBe([]);
    }),
  );

  it(
    'counts failures for each subscriber',
    marbles((m) => {
      const source$ = m.cold('#').pipe(pauses(even));
      const expected = at({ '0s': 'a', '200ms': 'b' });
      m.expectObservable(source$, '^ 300ms !').toBe(expected, { a: 200, b: 400 });
      m.expectObservable(source$, '^ 300ms !').toBe(expected, { a: 200, b: 400 });
    }),
  );
});
