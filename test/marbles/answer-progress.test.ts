import { describe, it } from 'vitest';
import { answerProgress } from '../../src/pilot-discovery/push/answer-progress.ts';
import { marbles } from '../support/marbles/marbles.ts';

const letters = { t: 'taken', u: 'untaken', l: 'late', s: 'stuck' } as const;

describe('an answer that is written', () => {
  it.each([
    { what: 'is taken at once', delivery: 't', expected: '(t|)' },
    { what: 'is taken in its turn', delivery: '4ms t', expected: '4ms (t|)' },
    { what: 'gives up its turn after 5 ms', delivery: '1s t', expected: '5ms u 994ms (t|)' },
    { what: 'is taken late', delivery: '299s t', expected: '5ms u 4994ms l 293999ms (t|)' },
    {
      what: 'is stuck if nothing takes it',
      delivery: '-',
      expected: '5ms u 4994ms l 294999ms (s|)',
    },
    {
      what: 'is stuck, and nothing later counts',
      delivery: '6m t',
      expected: '5ms u 4994ms l 294999ms (s|)',
    },
  ])('$what', ({ delivery, expected }) => {
    marbles((m) => {
      const delivery$ = m.cold(delivery);
      m.expectObservable(answerProgress(delivery$)).toBe(expected, letters);
    })();
  });

  it(
    'is written once',
    marbles((m) => {
      const delivery$ = m.cold('1s t');
      m.expectObservable(answerProgress(delivery$)).toBe('5ms u 994ms (t|)', letters);
      m.expectSubscriptions(delivery$.subscriptions).toBe('^ 999ms !');
    }),
  );
});
