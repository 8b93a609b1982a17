import { map, NEVER, switchMap } from 'rxjs';
import { describe, it } from 'vitest';
import type { Fetched } from '../../src/shared/http/fetched.ts';
import { document, type HttpOptions } from '../../src/pilot-agent/sources/http.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { readings } from '../support/marbles/readings.ts';
import { signs } from '../support/marbles/told.ts';

/** Answers: two documents, "not modified", and a failure. */
const answers: Readonly<Record<string, Partial<Fetched>>> = {
  a: { body: Buffer.from('a') },
  b: { body: Buffer.from('b') },
  n: { status: 304 },
  f: { status: 503 },
};

/** Returns the signs of a document whose n-th answer is the n-th letter, or none for `-`. */
function drawn(letters: string, options: HttpOptions = {}) {
  const answer$ = readings(letters).pipe(
    switchMap((letter) => (letter === '-' ? NEVER : [letter])),
    map((letter): Fetched => ({
      status: 200,
      headers: {},
      body: Buffer.alloc(0),
      ...answers[letter],
    })),
  );
  return signs(
    document('http://server/', { random: () => 0.5, ...options }, { ask: () => answer$ }),
  );
}

describe('http', () => {
  it(
    'asks again 30 s after an answer, and tells what is new',
    marbles((m) => {
      m.expectObservable(drawn('anab'), '^ 100s !').toBe(
        at({ '0s': 'r.x', '30s': '.', '60s': '.', '90s': '.x' }),
      );
    }),
  );

  it.each([
    ['sooner', 0, '24s'],
    ['later', 0.999_999, '36s'],
  ] as const)('asks up to 20 %% %s than that', (_, random, again) =>
    marbles((m) => {
      m.expectObservable(drawn('a', { random: () => random }), '^ 40s !').toBe(
        at({ '0s': 'r.x', [again]: '.' }),
      );
    })(),
  );

  it(
    'asks after 1, 2, 4 s while there is no document, and keeps what it has',
    marbles((m) => {
      const expected = at({
        '0s': 'r.x',
        '30s': 'f',
        '31s': 'f',
        '33s': 'f',
        '37s': '.',
        '67s': '.',
      });
      m.expectObservable(drawn('afffa'), '^ 70s !').toBe(expected);
    }),
  );

  it(
    'gives an answer 10 s',
    marbles((m) => {
      m.expectObservable(drawn('-a'), '^ 20s !').toBe(at({ '0s': 'r', '10s': 'f', '11s': '.x' }));
    }),
  );

  it(
    'asks at once if somebody wants it to, and once more if that was during an answer',
    marbles((m) => {
      const on$ = m.hot(at({ '5s': 'o', '20s': 'o' }));
      m.expectObservable(drawn('a-b', { on$ }), '^ 30s !').toBe(
        at({ '0s': 'r.x', '15s': 'f', '16s': '.x', '20s': '.' }),
      );
    }),
  );
});
