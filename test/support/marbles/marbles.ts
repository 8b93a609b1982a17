import type { RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';
import { marbles as marblesComparedBy } from '../../../src/testing/marbles.ts';

/** Those of `pilot-agent/testing`, with the matchers of vitest, and with its differences. */
export const marbles = (test: (helpers: RunHelpers) => void): (() => void) =>
  marblesComparedBy(test, (actual, expected) => {
    expect(actual).toEqual(expected);
  });
