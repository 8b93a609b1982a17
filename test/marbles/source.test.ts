import { setTimeout } from 'node:timers/promises';
import { asyncScheduler, defer, NEVER, type ObservableInput, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Content } from '../../src/pilot-agent/sources/contribution.ts';
import { source, type SourceOptions } from '../../src/pilot-agent/sources/source.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { given, givenAt, signs } from '../support/marbles/told.ts';

/**
 * Returns a source without jitter whose n-th reading is the n-th of `readings`; the last one
 * repeats.
 */
function drawn(
  readings: readonly ObservableInput<Content | undefined>[],
  options: SourceOptions = {},
) {
  let next = 0;
  return source('drawn', () => readings[Math.min(next++, readings.length - 1)] ?? NEVER, {
    random: () => 0.5,
    ...options,
  });
}

describe('source', () => {
  it.each<[options: object, reason: string]>([
    [
      { as: 'epoch' },
      "source 'mine': as is 'epoch', and has to be one of restart, envoy, merge, runtime, secret",
    ],
    [
      { every: -5 },
      "source 'mine': every is -5, and has to be a number of ms, from 0 to 2147483647",
    ],
    [
      { timeout: Number.NaN },
      "source 'mine': timeout is NaN, and has to be a number of ms, from 0 to 2147483647",
    ],
    [
      { firstWithin: 2 ** 31 },
      "source 'mine': firstWithin is 2147483648, and has to be a number of ms, from 0 to 2147483647",
    ],
    [{ at: 'admin' }, "source 'mine': at is for 'merge' alone, and as is 'restart'"],
  ])('refuses options that mean nothing: %o', (options, reason) => {
    expect(() => source('mine', () => NEVER, options)).toThrow(reason);
  });

  it(
    'is read at once, and again 30 s after the end of each reading, if that is asked for',
    marbles((m) => {
      const readings = [m.cold('200ms (a|)'), m.cold('400ms (a|)'), m.cold('200ms (b|)')];
      const expected = at({ '0s': 'r', '200ms': '.x', '30600ms': '.', '60800ms': '.x' });
      m.expectObservable(signs(drawn(readings, { every: 30_000 })), '^ 70s !').toBe(expected);
    }),
  );

  it('is not read again at once if the pause is longer than a timer of Node can wait', async () => {
    let looks = 0;
    const thirtyDays = 30 * 86_400_000;
    const look$ = defer(() => of(`reading ${(looks += 1)}`));
    const reading = source('slow', () => look$, { every: () => thirtyDays }).changes$.subscribe({
      error: (error: unknown) => {
        throw error as Error;
      },
    });
    await setTimeout(20); // a timer that is too long ends after 1 ms
    reading.unsubscribe();
    expect(looks).toBe(1);
  });

  it(
    'is not read again without an occasion',
    marbles((m) => {
      m.expectObservable(signs(drawn([m.cold('(a|)')])), '^ 60m !').toBe('(r.x)');
    }),
  );

  it(
    'is read at each occasion; those that come during a reading cause one more after it',
    marbles((m) => {
      const on$ = m.hot(at({ '100ms': 'o', '150ms': 'o', '250ms': 'o', '10s': 'o' }));
      const readings = [m.cold('50ms (a|)'), m.cold('200ms (b|)'), m.cold('200ms (c|)')];
      const expected = at({
        '0s': 'r',
        '50ms': '.x',
        '300ms': '.x',
        '500ms': '.x',
        '10200ms': '.',
      });
      m.expectObservable(signs(drawn(readings, { on$ })), '^ 20s !').toBe(expected);
    }),
  );

  it(
    'listens to its occasions again a second after they have failed',
    marbles((m) => {
      const on$ = m.cold(at({ '5s': 'o', '7s': '#' }));
      const expected = at({ '0s': 'r.x', '5s': '.', '13s': '.' });
      m.expectObservable(signs(drawn([m.cold('(a|)')], { on$ })), '^ 14s !').toBe(expected);
    }),
  );

  it(
    'takes each value of a reading that does not end, and undefined for nothing new',
    marbles((m) => {
      const values = { a: 'a', u: undefined, b: 'b' };
      const readings = [
        m.cold<Content | undefined>(at({ '1s': 'a', '2s': 'u', '3s': 'a', '4s': 'b' }), values),
      ];
      const expected = at({ '0s': 'r', '1s': '.x', '2s': '.', '3s': '.', '4s': '.x' });
      m.expectObservable(signs(drawn(readings)), '^ 1m !').toBe(expected);
    }),
  );

  it.each([true, false])(
    'finds what it had before an outage if nothing has changed since: keepLastOnError %s',
    (keepLastOnError) =>
      marbles((m) => {
        const readings = [
          m.cold('(a|)'),
          throwError(() => new Error('away')),
          m.cold<Content | undefined>('(u|)', { u: undefined }),
        ];
        const drawnSource = drawn(readings, { every: 10_000, keepLastOnError });
        m.expectObservable(givenAt(drawnSource, m.cold('15s g'))).toBe('15s a');
        m.expectObservable(signs(drawnSource), '^ 16s !').toBe(
          at({
            '0s': 'r.x',
            '10s': keepLastOnError ? 'f' : 'fx',
            '11s': keepLastOnError ? '.' : '.x',
          }),
        );
      })(),
  );

  it(
    'says of a first reading without a content that it has failed',
    marbles((m) => {
      m.expectObservable(
        signs(drawn([m.cold<Content | undefined>('(u|)', { u: undefined })])),
        '^ 500ms !',
      ).toBe('(rf)');
    }),
  );

  it(
    'gives a reading what was read last, and a signal that is aborted at its end',
    marbles((m) => {
      const calls: string[] = [];
      const readings = [m.cold('(a|)'), NEVER];
      const periodic = source(
        'told',
        ({ last, signal }) => {
          calls.push(`${asyncScheduler.now()} ${typeof last === 'string' ? last : '-'}`);
          signal.addEventListener('abort', () => calls.push(`${asyncScheduler.now()} aborted`));
          return readings.shift() ?? NEVER;
        },
        { every: 10_000, random: () => 0.5 },
      );
      m.expectObservable(signs(periodic), '^ 25s !').toBe(at({ '0s': 'r.x', '20s': 'f' }));
      m.flush();
      expect(calls).toEqual([
        '0 -',
        '0 aborted',
        '10000 a',
        '20000 aborted',
        '21000 a',
        '25001 aborted',
      ]);
    }),
  );

  it(
    'counts 10 s without a value as a failure',
    marbles((m) => {
      m.expectObservable(signs(drawn([NEVER])), '^ 10500ms !').toBe(at({ '0s': 'r', '10s': 'f' }));
    }),
  );

  it(
    'tries again after 1 s, doubling to 60 s, and begins with 1 s after a reading',
    marbles((m) => {
      const bad$ = throwError(() => new Error('away'));
      const readings = [
        bad$,
        bad$,
        bad$,
        bad$,
        bad$,
        bad$,
        bad$,
        bad$,
        m.cold('(a|)'),
        bad$,
        m.cold('(a|)'),
      ];
      const on$ = m.hot(at({ '200s': 'o' }));
      const failures = at({
        '0s': 'rf',
        '1s': 'f',
        '3s': 'f',
        '7s': 'f',
        '15s': 'f',
        '31s': 'f',
        '63s': 'f',
        '123s': 'f',
        '183s': '.x',
        '200s': 'f',
        '201s': '.',
      });
      m.expectObservable(signs(drawn(readings, { on$ })), '^ 210s !').toBe(failures);
    }),
  );

  it(
    'keeps what was read last while it cannot be read, which is not a change',
    marbles((m) => {
      const readings = [m.cold('(a|)'), throwError(() => new Error('away'))];
      const drawnSource = drawn(readings, { every: 5_000 });
      m.expectObservable(signs(drawnSource), '^ 5500ms !').toBe(at({ '0s': 'r.x', '5s': 'f' }));
      const when$ = m.hot(at({ '1s': 'w', '5200ms': 'w' }));
      m.expectObservable(givenAt(drawnSource, when$), '^ 5400ms !').toBe(
        at({ '1s': 'a', '5200ms': 'b' }),
        { a: 'a', b: 'a!' },
      );
    }),
  );

  it(
    'has nothing while it cannot be read, with keepLastOnError: false',
    marbles((m) => {
      const readings = [m.cold('(a|)'), throwError(() => new Error('away')), m.cold('(a|)')];
      const drawnSource = drawn(readings, { every: 5_000, keepLastOnError: false });
      m.expectObservable(signs(drawnSource), '^ 8s !').toBe(
        at({ '0s': 'r.x', '5s': 'fx', '6s': '.x' }),
      );
    }),
  );

  it(
    'keeps the start waiting for its first reading no longer than 1 s',
    marbles((m) => {
      const values = { n: '-!', a: 'a' };
      m.expectObservable(given(drawn([m.cold('400ms (a|)')]))).toBe('400ms (a|)', values);
      m.expectObservable(given(drawn([m.cold('3s (a|)')]))).toBe('1s (n|)', values);
      m.expectObservable(given(drawn([throwError(() => new Error('away'))]))).toBe('(n|)', values);
    }),
  );

  it(
    'is read once, however many listen, and not after the last of them',
    marbles((m) => {
      const read = m.cold('-a');
      const drawnSource = drawn([read]);
      m.expectObservable(signs(drawnSource), '^ 5s !');
      m.expectObservable(given(drawnSource), '--^');
      m.expectObservable(signs(drawnSource), '3s ^ 1s !');
      m.expectSubscriptions(read.subscriptions).toBe('^ 5s !');
    }),
  );

  it(
    'goes on between a first reading and those who listen then',
    marbles((m) => {
      const read = m.cold('2s a');
      const drawnSource = drawn([read]);
      m.expectObservable(given(drawnSource)).toBe('1s (n|)', { n: '-!' });
      m.expectObservable(signs(drawnSource), '1s ^ 5s !').toBe(at({ '1s': 'r', '2s': '.x' }));
      m.expectSubscriptions(read.subscriptions).toBe('^ 6s !');
    }),
  );

  it(
    'tells a function that throws as a reading that failed',
    marbles((m) => {
      const thrown = source('thrown', () => {
        throw new Error('no such thing');
      });
      m.expectObservable(signs(thrown), '^ 100ms !').toBe('(rf)');
      m.expectObservable(given(thrown)).toBe('(n|)', { n: '-!' });
    }),
  );
});
