import type { RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';
import { marbles as marblesComparedBy } from '../../../src/testing/marbles.ts';

/**
 * Makes a marble test as `pilot-agent/testing` does, but compares with the matchers of vitest, so
 * that a failure shows its differences.
 */
export const marbles = (test: (helpers: RunHelpers) => void): (() => void) =>
  marblesComparedBy(test, (actual, expected) => {
    expect(actual).toEqual(expected);
  });
