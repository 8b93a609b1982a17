import { defer, EMPTY, type Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { awaitReady } from '../../src/pilot-agent/cli/wait.ts';
import { marbles } from '../support/marbles/marbles.ts';

const standard = { limit: 60_000, timeoutMs: 500, period: 500 };
const reasons: Record<string, string | undefined> = {
  r: undefined,
  x: 'refused',
  y: 'it answers 503',
  t: 'no answer within 500 ms',
  s: 'no answer within 100 ms',
};

/**
 * Returns a look whose n-th answer is drawn by the n-th diagram; the last one repeats. `questions`
 * contains the subscriptions to each answer.
 */
function fakeLook(m: RunHelpers, ...diagrams: readonly string[]) {
  const colds = diagrams.map((diagram) => m.cold(diagram, reasons));
  let count = 0;
  const look$ = defer(
    (): Observable<string | undefined> => colds[Math.min(count++, colds.length - 1)] ?? EMPTY,
  );
  return { look$, questions: colds.map(({ subscriptions }) => subscriptions) };
}

describe('awaitReady', () => {
  it(
    'is over at the first answer that is good',
    marbles((m) => {
      const { look$, questions } = fakeLook(m, '100ms (r|)');
      m.expectObservable(awaitReady(look$, standard)).toBe('100ms (r|)', reasons);
      m.expectSubscriptions(questions[0] ?? []).toBe('     ^ 99ms !');
    }),
  );

  it(
    'asks again 500 ms after an answer that is not',
    marbles((m) => {
      const { look$, questions } = fakeLook(m, '100ms (x|)', '100ms (y|)', '(r|)');
      m.expectObservable(awaitReady(look$, standard)).toBe('100ms x 599ms y 499ms (r|)', reasons);
      m.expectSubscriptions(questions[1] ?? []).toBe('600ms ^ 99ms !');
    }),
  );

  it(
    'gives each question 500 ms',
    marbles((m) => {
      const { look$, questions } = fakeLook(m, '-', '499ms (r|)');
      m.expectObservable(awaitReady(look$, standard)).toBe('500ms t 998ms (r|)', reasons);
      m.expectSubscriptions(questions[0] ?? []).toBe('     ^ 499ms !');
    }),
  );

  it(
    'says each time what is wrong, and ends as soon as no question fits into the time any more',
    marbles((m) => {
      const { look$ } = fakeLook(m, '(x|)', '(y|)');
      m.expectObservable(awaitReady(look$, { ...standard, limit: 2_000 })).toBe(
        'x 499ms y 499ms y 499ms (y|)',
        reasons,
      );
    }),
  );

  it(
    'never takes longer than the limit, though the last question were still open',
    marbles((m) => {
      const { look$, questions } = fakeLook(m, '-');
      const limits = { ...standard, limit: 1_100 };
      m.expectObservable(awaitReady(look$, limits)).toBe('500ms t 599ms (s|)', reasons);
      m.expectSubscriptions(questions[0] ?? []).toBe(['^ 499ms !', '1s ^ 99ms !']);
    }),
  );

  it(
    'waits 60 s for a good answer at 59.9 s, and not for one at 60.1 s',
    marbles((m) => {
      const patient = { ...standard, timeoutMs: 100_000 };
      m.expectObservable(awaitReady(m.cold('59900ms (r|)', reasons), patient)).toBe(
        '59900ms (r|)',
        reasons,
      );
      m.expectObservable(awaitReady(m.cold('60100ms (r|)', reasons), patient)).toBe('60s (l|)', {
        l: 'no answer within 60000 ms',
      });
    }),
  );

  it.each([
    { what: 'that is good', answer: '100ms (r|)', expected: '100ms (r|)' },
    { what: 'that is not', answer: '100ms (x|)', expected: '100ms (x|)' },
    { what: 'that never comes', answer: '-', expected: '500ms (t|)' },
  ])('asks once where the limit is 0, and takes the answer $what', ({ answer, expected }) => {
    marbles((m) => {
      const { look$ } = fakeLook(m, answer);
      m.expectObservable(awaitReady(look$, { ...standard, limit: 0 })).toBe(expected, reasons);
    })();
  });

  it(
    'asks anew at once if the period is 0, one question at a time',
    marbles((m) => {
      const { look$ } = fakeLook(m, '300ms (x|)', '300ms (x|)', '300ms (r|)');
      m.expectObservable(awaitReady(look$, { ...standard, period: 0 })).toBe(
        '300ms x 299ms x 299ms (r|)',
        reasons,
      );
    }),
  );

  it(
    'drops its question when nobody wants to know any more',
    marbles((m) => {
      const { look$, questions } = fakeLook(m, '-');
      m.expectObservable(awaitReady(look$, standard), '^ 99ms !').toBe('-');
      m.expectSubscriptions(questions[0] ?? []).toBe('         ^ 99ms !');
    }),
  );
});
