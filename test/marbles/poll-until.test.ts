import { defer, of } from 'rxjs';
import { describe, it } from 'vitest';
import { pollUntil } from '../../src/operators/poll-until.ts';
import { clockSetAt } from '../support/marbles/clock-set-at.ts';
import { marbles } from '../support/marbles/marbles.ts';

/** Whether an answer is enough: `r` is. */
const untilReady = (value: string) => value === 'r';

describe('pollUntil', () => {
  it.each([
    {
      what: 'waits for an answer that never comes',
      answer: '        -',
      expected: '-',
      questions: ['^'],
    },
    {
      what: 'asks again after an empty answer',
      answer: '--|',
      expected: '31ms -',
      unsub: '30ms !',
      questions: ['^-!', '12ms ^-!', '24ms ^-!'],
    },
    {
      what: 'asks once if that is enough',
      answer: '               (r|)',
      expected: '(r|)',
      questions: ['(^!)'],
    },
    {
      what: 'takes no more of an answer than is enough',
      answer: '   -xrx|',
      expected: '-x(r|)',
      questions: ['^-!'],
    },
    {
      what: 'emits all values of all answers',
      answer: 'xy|',
      expected: 'xy 10ms xy 10ms x',
      unsub: '25ms !',
      questions: ['^-!', '12ms ^-!', '24ms ^!'],
    },
    {
      what: 'fails with the source, and asks no more',
      answer: '       -x#',
      expected: '-x#',
      questions: ['^-!'],
    },
    {
      what: 'goes on with an answer that never ends',
      answer: '        -x-x-',
      expected: '-x-x-',
      questions: ['^'],
    },
    {
      what: 'lets go of the question that is under way',
      answer: '-x---x',
      expected: '-x-',
      unsub: '  ---!',
      questions: ['^--!'],
    },
  ])('$what', ({ answer, expected, unsub, questions }) =>
    marbles((m) => {
      const source = m.cold(answer);
      m.expectObservable(source.pipe(pollUntil(untilReady, { every: 10 })), unsub).toBe(expected);
      m.expectSubscriptions(source.subscriptions).toBe(questions);
    })(),
  );

  it(
    'asks nothing more when it is disposed of between two questions',
    marbles((m) => {
      const source = m.cold('(x|)');
      const unsub = '        9ms !';
      m.expectObservable(source.pipe(pollUntil(untilReady, { every: 10 })), unsub).toBe('x');
      m.expectSubscriptions(source.subscriptions).toBe('(^!)');
    }),
  );

  it(
    'fails with a function that throws',
    marbles((m) => {
      const source = m.cold('-x|');
      const fail = () => {
        throw new Error('no judgement');
      };
      m.expectObservable(source.pipe(pollUntil(fail, { every: 10 }))).toBe(
        '-#',
        undefined,
        new Error('no judgement'),
      );
      m.expectSubscriptions(source.subscriptions).toBe('^!');
    }),
  );

  it.each([
    { what: 'asks up to the limit', limit: 20, expected: 'a 9ms b 9ms (c|)' },
    {
      what: 'asks once more if the limit is not over yet',
      limit: 21,
      expected: 'a 9ms b 9ms c 9ms (d|)',
    },
    { what: 'asks once at a limit of 0', limit: 0, expected: '(a|)' },
  ])('$what', ({ limit, expected }) =>
    marbles((m) => {
      const answers = ['a', 'b', 'c', 'd', 'e'];
      const source = defer(() => of(answers.shift() ?? ''));
      m.expectObservable(source.pipe(pollUntil(untilReady, { every: 10, limit }))).toBe(expected);
    })(),
  );

  it.each([50, 70])(
    'counts the pause from the end of an answer, and does not cut one off at the limit of %i ms',
    (limit) =>
      marbles((m) => {
        const source = m.cold('30ms (x|)');
        const expected = '     30ms x 39ms (x|)';
        m.expectObservable(source.pipe(pollUntil(untilReady, { every: 10, limit }))).toBe(expected);
        m.expectSubscriptions(source.subscriptions).toBe(['^ 29ms !', '40ms ^ 29ms !']);
      })(),
  );

  it(
    'asks no more often within its limit if the clock is set back',
    marbles((m) => {
      const polled$ = of('x').pipe(
        pollUntil(untilReady, { every: 10, limit: 30 }, clockSetAt(5, -3_600_000)),
      );
      m.expectObservable(polled$, '^ 1s !').toBe('x 9ms x 9ms x 9ms (x|)');
    }),
  );

  it(
    'begins its limit anew for each subscription',
    marbles((m) => {
      const polled$ = of('x').pipe(pollUntil(untilReady, { every: 10, limit: 15 }));
      const expected = 'x 9ms x 9ms (x|)';
      m.expectObservable(polled$).toBe(expected);
      m.expectObservable(polled$, '1s ^').toBe(`1s ${expected}`);
    }),
  );
});
