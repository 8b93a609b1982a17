import { map, NEVER, switchMap } from 'rxjs';
import { describe, it } from 'vitest';
import type { Fetched } from '../../src/sources/fetched.ts';
import { document, type HttpOptions } from '../../src/sources/http.ts';
import { at } from './support/at.ts';
import { marbles } from './support/marbles.ts';
import { readings } from './support/readings.ts';

/** Answers: two documents, "not modified", and a failure. */
const answers: Readonly<Record<string, Partial<Fetched>>> = {
  a: { body: Buffer.from('a') },
  b: { body: Buffer.from('b') },
  n: { status: 304 },
  f: { status: 503 },
};

/** What a document says of itself of which the n-th answer is the n-th letter, `-` for none. */
function drawn(letters: string, options: HttpOptions = {}) {
  const answer$ = readings(letters).pipe(
    switchMap((letter) => (letter === '-' ? NEVER : [letter])),
    map((letter): Fetched => ({ status: 200, headers: {}, body: Buffer.alloc(0), ...answers[letter] })),
  );
  const { changes$ } = document('http://server/', { random: () => 0.5, ...options }, { ask: () => answer$ });
  // r: ready, s: read, x: changed, f: could not be read
  const letterOf = { ready: 'r', changed: 'x', 'watch-failed': 'w', 'source-read': 's', 'source-unreadable': 'f' } as const;
  return changes$.pipe(map(({ type }) => letterOf[type]));
}

describe('http', () => {
  it(
    'asks again a minute after an answer, and tells what is new',
    marbles((m) => {
      m.expectObservable(drawn('anab'), '^ 200s !').toBe(at({ '0s': 'rsx', '60s': 's', '120s': 's', '180s': 'sx' }));
    }),
  );

  it.each([
    ['sooner', 0, '48s'],
    ['later', 0.999_999, '72s'],
  ] as const)('asks up to 20 %% %s than that', (_, random, again) =>
    marbles((m) => {
      m.expectObservable(drawn('a', { random: () => random }), '^ 80s !').toBe(at({ '0s': 'rsx', [again]: 's' }));
    })(),
  );

  it(
    'asks after 1, 2, 4 s while there is no document, and keeps what it has',
    marbles((m) => {
      const expected = at({ '0s': 'rsx', '60s': 'f', '61s': 'f', '63s': 'f', '67s': 's', '127s': 's' });
      m.expectObservable(drawn('afffa'), '^ 130s !').toBe(expected);
    }),
  );

  it(
    'gives an answer 10 s',
    marbles((m) => {
      m.expectObservable(drawn('-a'), '^ 20s !').toBe(at({ '0s': 'r', '10s': 'f', '11s': 'sx' }));
    }),
  );

  it(
    'asks at once where somebody wants it to, and once more if that was during an answer',
    marbles((m) => {
      const on$ = m.hot(at({ '5s': 'o', '20s': 'o' }));
      m.expectObservable(drawn('a-b', { on$ }), '^ 30s !').toBe(at({ '0s': 'rsx', '15s': 'f', '16s': 'sx', '20s': 's' }));
    }),
  );
});
