import { defineConfig } from 'vitest/config';
import { apart } from '../support/apart.ts';
import { limits } from '../support/limits.ts';
import { GivenOrder } from './given-order.ts';
import { overRealServers } from './reached-tests.ts';

/**
 * The configuration for a copy of the tree with one mutant: the tests that need no build, one
 * worker for each copy. The contract tests start a real Envoy, so they run last.
 */
export default defineConfig({
  test: {
    ...limits,
    maxWorkers: 1,
    experimental: { fsModuleCache: true },
    sequence: { sequencer: GivenOrder },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{marbles,unit}/**/*.test.ts'],
          exclude: apart,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'apart', include: apart, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          exclude: [overRealServers],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
