import { of } from 'rxjs';
import { describe, it } from 'vitest';
import { turnstiles } from '../../src/operators/turnstiles.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('turnstiles', () => {
  it(
    'let the observables of one key wait for each other, and not those of another key',
    marbles((m) => {
      const inTurn = turnstiles({ running: 1, waiting: 1 }, of('full'));
      m.expectObservable(m.cold('--a|').pipe(inTurn('x'))).toBe('--a|');
      m.expectObservable(m.cold('--b|').pipe(inTurn('x'))).toBe('-----b|');
      m.expectObservable(m.cold('--c|').pipe(inTurn('x'))).toBe('(f|)', { f: 'full' });
      m.expectObservable(m.cold('--d|').pipe(inTurn('y'))).toBe('--d|');
    }),
  );

  it(
    'forget a key that all have left',
    marbles((m) => {
      const inTurn = turnstiles({ running: 1, waiting: 1 }, of('full'));
      m.expectObservable(m.cold('-').pipe(inTurn('x')), '^--!').toBe('-');
      m.expectObservable(m.cold('-').pipe(inTurn('x')), '^-!').toBe('-');
      m.expectObservable(m.cold('--c|').pipe(inTurn('x')), '----^').toBe('------c|');
    }),
  );
});
