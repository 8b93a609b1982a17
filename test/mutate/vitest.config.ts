import { defineConfig } from 'vitest/config';
import { limits } from '../support/limits.ts';

/**
 * For a copy of the tree with one mutant: the tests that need no build, one worker for each copy.
 */
export default defineConfig({
  test: {
    include: ['test/{marbles,unit,contract}/**/*.test.ts'],
    ...limits,
    maxWorkers: 1,
  },
});
