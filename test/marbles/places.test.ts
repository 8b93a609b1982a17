import { describe, it } from 'vitest';
import { places } from '../../src/operators/places.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('places', () => {
  it(
    'are had by one at a time if there is one, in the order in which they came',
    marbles((m) => {
      const place$ = places(1);
      m.expectObservable(place$, '^ 4s !').toBe('a', { a: undefined });
      m.expectObservable(place$, '1s ^ 7s !').toBe('4001ms a', { a: undefined });
      m.expectObservable(place$, '2s ^ 7s !').toBe('8001ms a', { a: undefined });
    }),
  );

  it(
    'are had by as many as there are',
    marbles((m) => {
      const place$ = places(2);
      m.expectObservable(place$, '^ 4s !').toBe('a', { a: undefined });
      m.expectObservable(place$, '1s ^ 7s !').toBe('1s a', { a: undefined });
      m.expectObservable(place$, '2s ^ 7s !').toBe('4001ms a', { a: undefined });
    }),
  );

  it(
    'are not kept for one who does not wait any more',
    marbles((m) => {
      const place$ = places(1);
      m.expectObservable(place$, '^ 4s !').toBe('a', { a: undefined });
      m.expectObservable(place$, '1s ^ 1s !').toBe('-');
      m.expectObservable(place$, '2s ^ 7s !').toBe('4001ms a', { a: undefined });
    }),
  );
});
