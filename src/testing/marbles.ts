import { deepStrictEqual } from 'node:assert';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';

/**
 * Makes a marble test, which runs in virtual time when it is called, without waiting: `it('…',
 * marbles(({ hot, expectObservable }) => { … }))`. It throws if something differs from the drawing.
 *
 * A diagram shows whole ms: an event within one, such as an answer of the fake proxy, is drawn at
 * its beginning.
 *
 * @param test draws the inputs and the expected results
 * @param compare throws if the two differ; give that of the test framework to use its matchers
 */
export const marbles =
  (
    test: (helpers: RunHelpers) => void,
    compare: (actual: unknown, expected: unknown) => void = deepStrictEqual,
  ) =>
  (): void => {
    new TestScheduler((actual, expected) => compare(inWholeMs(actual), expected)).run(test);
  };

/** Returns messages and subscriptions with the times of a diagram. */
function inWholeMs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inWholeMs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.assign(
    Object.create(Object.getPrototypeOf(value) as object) as object,
    value,
    ...(['frame', 'subscribedFrame', 'unsubscribedFrame'] as const)
      .filter((name) => name in value)
      .map((name) => ({ [name]: Math.floor((value as Record<typeof name, number>)[name]) })),
  );
}
