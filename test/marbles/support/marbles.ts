import { TestScheduler, type RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';

/**
 * Wraps a marble test: `it('…', marbles(({ hot, expectObservable }) => { … }))`. A diagram shows
 * whole ms: what happens within one, as an answer of the fake proxy does, is drawn at its
 * beginning.
 */
export const marbles = (test: (helpers: RunHelpers) => void) => (): void => {
  new TestScheduler((actual, expected) => {
    expect(inWholeMs(actual)).toEqual(expected);
  }).run(test);
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
