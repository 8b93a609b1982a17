import { describe, it } from 'vitest';
import { answerProgress } from '../../src/pilot-discovery/push/answer-progress.ts';
import { marbles } from '../support/marbles/marbles.ts';

const letters = { t: 'taken', u: 'untaken', l: 'late', s: 'stuck' } as const;

describe('an answer that is written', () => {
  it.each([
    { what: 'is taken at once', taken: 't', expected: '(t|)' },
    { what: 'is taken in its turn', taken: '4ms t', expected: '4ms (t|)' },
    { what: 'gives up its turn after 5 ms', taken: '1s t', expected: '5ms u 994ms (t|)' },
    { what: 'is taken late', taken: '299s t', expected: '5ms u 4994ms l 293999ms (t|)' },
    { what: 'is stuck if nothing takes it', taken: '-', expected: '5ms u 4994ms l 294999ms (s|)' },
    {
      what: 'is stuck, and nothing later counts',
      taken: '6m t',
      expected: '5ms u 4994ms l 294999ms (s|)',
    },
  ])('$what', ({ taken, expected }) => {
    marbles((m) => {
      const taken$ = m.cold(taken);
      m.expectObservable(answerProgress(taken$)).toBe(expected, letters);
    })();
  });

  it(
    'is written once',
    marbles((m) => {
      const taken$ = m.cold('1s t');
      m.expectObservable(answerProgress(taken$)).toBe('5ms u 994ms (t|)', letters);
      m.expectSubscriptions(taken$.subscriptions).toBe('^ 999ms !');
    }),
  );
});
