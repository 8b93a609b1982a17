import { deepStrictEqual } from 'node:assert';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';

/**
 * Makes a marble test, which runs in virtual time when it is called and waits for nothing:
 * `it('…', marbles(({ hot, expectObservable }) => { … }))`. It throws where something is not as it
 * was drawn.
 *
 * A diagram shows whole ms: what happens within one, as an answer of the fake proxy does, is drawn
 * at its beginning.
 *
 * @param test draws what happens and what is expected of it
 * @param compare throws where the two are not the same; a test framework's own knows its matchers
 */
export const marbles =
  (
    test: (helpers: RunHelpers) => void,
    compare: (actual: unknown, expected: unknown) => void = deepStrictEqual,
  ) =>
  (): void => {
    new TestScheduler((actual, expected) => compare(inWholeMs(actual), expected)).run(test);
  };

/** Messages and subscriptions as a diagram has them. */
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
