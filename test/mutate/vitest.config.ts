import { defineConfig } from 'vitest/config';

/**
 * For a copy of the tree with one mutant: the tests that need no build, one worker for each copy.
 */
export default defineConfig({
  test: {
    include: ['test/{marbles,unit,contract}/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 1,
  },
});
