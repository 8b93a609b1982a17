import { describe, it } from 'vitest';
import { onePlace } from '../../src/operators/one-place.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('onePlace', () => {
  it(
    'is had by one at a time, in the order in which they came',
    marbles((m) => {
      const place$ = onePlace();
      m.expectObservable(place$, '^ 4s !').toBe('a', { a: undefined });
      m.expectObservable(place$, '1s ^ 7s !').toBe('4001ms a', { a: undefined });
      m.expectObservable(place$, '2s ^ 7s !').toBe('8001ms a', { a: undefined });
    }),
  );

  it(
    'is not kept for one who does not wait any more',
    marbles((m) => {
      const place$ = onePlace();
      m.expectObservable(place$, '^ 4s !').toBe('a', { a: undefined });
      m.expectObservable(place$, '1s ^ 1s !').toBe('-');
      m.expectObservable(place$, '2s ^ 7s !').toBe('4001ms a', { a: undefined });
    }),
  );
});
