import { TestScheduler, type RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';

/** Wraps a marble test: `it('…', marbles(({ hot, expectObservable }) => { … }))`. */
export const marbles = (test: (helpers: RunHelpers) => void) => (): void => {
  new TestScheduler((actual, expected) => {
    expect(actual).toEqual(expected);
  }).run(test);
};
