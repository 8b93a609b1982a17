import { asyncScheduler, defer, map, NEVER, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  blockingQueries,
  type Queried,
  type QueryTimes,
} from '../../src/shared/consul/blocking-queries.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const usual: QueryTimes = { wait: 60_000, timeout: 10_000, random: () => 0.5 };

/**
 * An answer: the index of its state, and the seconds until it comes. The state is the last digit of
 * the index.
 */
type Drawn = readonly [index: number, after: number];

/**
 * Returns the states of a Consul that gives these answers in turn and then none, and the indexes of
 * the queries that it received.
 */
function drawn(answers: readonly Drawn[], times: Partial<QueryTimes> = {}) {
  const indexes: number[] = [];
  const queried: Queried<string> = {
    query: (from) =>
      defer(() => {
        const [index, after] = answers[indexes.length] ?? [0, undefined];
        indexes.push(from);
        return after === undefined
          ? NEVER
          : timer(after * 1_000).pipe(map(() => ({ index, state: String(index % 10) })));
      }),
  };
  return { indexes, state$: blockingQueries(queried, { ...usual, ...times }) };
}

const many = (count: number, index: (n: number) => number): readonly Drawn[] =>
  Array.from({ length: count }, (_, n) => [index(n), 0]);

describe('blockingQueries', () => {
  it('asks from the index of the state that it knows', () => {
    const { indexes, state$ } = drawn([
      [1, 0],
      [2, 5],
      [2, 61],
      [4, 3],
    ]);
    marbles((m) => {
      m.expectObservable(state$, '^ 100s !').toBe(
        at({ '0s': '1', '5s': '2', '66s': '2', '69s': '4' }),
      );
    })();
    expect(indexes).toEqual([0, 1, 2, 2, 4]);
  });

  it('begins anew when the index goes back', () => {
    const { indexes, state$ } = drawn([
      [5, 0],
      [3, 1],
      [3, 1],
      [4, 1],
    ]);
    marbles((m) => {
      m.expectObservable(state$, '^ 10s !').toBe(
        at({ '0s': '5', '1s': '3', '2s': '3', '3s': '4' }),
      );
    })();
    expect(indexes).toEqual([0, 5, 0, 3, 4]);
  });

  it('asks once in 10 s if an index of 0 keeps Consul from waiting', () => {
    const { indexes, state$ } = drawn(many(9, () => 0));
    marbles((m) => {
      m.expectObservable(state$, '^ 25s !').toBe(
        at({ '0s': '00', '1s': '0', '11s': '0', '21s': '0' }),
      );
    })();
    expect(indexes).toEqual([0, 1, 1, 1, 1]);
  });

  it(
    'takes ten changes on end at once, and then one a second',
    marbles((m) => {
      const { state$ } = drawn(many(20, (n) => n + 1));
      const expected = at({ '0s': '12345678901', '1s': '2', '2s': '3', '3s': '4' });
      m.expectObservable(state$, '^ 3500ms !').toBe(expected);
    }),
  );

  it.each([
    ['sooner', 0, '800ms'],
    ['later', 0.999_999, '1200ms'],
  ] as const)('asks up to 20 %% %s than that', (_, random, then) =>
    marbles((m) => {
      const { state$ } = drawn(
        many(12, (n) => n + 1),
        { random: () => random },
      );
      m.expectObservable(state$, '^ 1500ms !').toBe(at({ '0s': '12345678901', [then]: '2' }));
    })(),
  );

  it(
    'keeps the least time between two queries',
    marbles((m) => {
      const { state$ } = drawn(
        many(20, (n) => n + 1),
        { spacing: 1_000 },
      );
      const expected = at({ '0s': '1', '1s': '2', '2s': '3', '3s': '4' });
      m.expectObservable(state$, '^ 3500ms !').toBe(expected);
    }),
  );

  it(
    'owes nothing after a wait that was kept',
    marbles((m) => {
      const { state$ } = drawn([
        [1, 0],
        [1, 60],
        [1, 60],
        [2, 1],
        [3, 0],
      ]);
      m.expectObservable(state$, '^ 130s !').toBe(
        at({ '0s': '1', '60s': '1', '120s': '1', '121s': '23' }),
      );
    }),
  );

  it(
    'pauses for seconds, and not for an hour, if the clock is set back by an hour',
    marbles((m) => {
      const setBack = () => (asyncScheduler.now() > 30_000 ? 3_600_000 : 0);
      const scheduler = {
        now: () => asyncScheduler.now() - setBack(),
        schedule: asyncScheduler.schedule.bind(asyncScheduler),
      };
      const answers: readonly Drawn[] = [
        [1, 0],
        [1, 60],
        [2, 1],
        [3, 1],
      ];
      const { state$ } = drawn(answers, { spacing: 1_000, scheduler });
      m.expectObservable(state$, '^ 100s !').toBe(
        at({ '0s': '1', '61s': '1', '82s': '2', '83s': '3' }),
      );
    }),
  );

  it(
    'gives the first answer 10 s, and each further one its wait and a sixteenth of it besides',
    marbles((m) => {
      const late = (seconds: number) => new Error(`nothing within ${seconds} s`);
      m.expectObservable(drawn([]).state$).toBe('10s #', undefined, late(10));
      m.expectObservable(
        drawn([
          [1, 0],
          [2, 73.7],
        ]).state$,
        '^ 100s !',
      ).toBe(at({ '0s': '1', '73.7s': '2' }));
      m.expectObservable(drawn([[1, 0]]).state$).toBe('1 73749ms #', undefined, late(73.75));
    }),
  );
});
