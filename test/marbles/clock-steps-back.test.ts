import { describe, it } from 'vitest';
import { clockStepsBack } from '../../src/operators/clock-steps-back.ts';
import { clockSetAt } from '../support/marbles/clock-set-at.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('clockStepsBack', () => {
  it(
    'emits within a minute after a step behind the beginning, and not after another step',
    marbles((m) => {
      const step$ = (by: number) => clockStepsBack(clockSetAt(90_000, by));
      m.expectObservable(step$(-600_000), '^ 60m !').toBe('120s (0|)', { 0: 0 });
      m.expectObservable(step$(600_000), '^ 60m !').toBe('-');
      m.expectObservable(step$(-60_000), '^ 60m !').toBe('-');
    }),
  );
});
