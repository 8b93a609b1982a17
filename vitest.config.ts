import { defineConfig } from 'vitest/config';
import { apart } from './test/support/apart.ts';
import { limits } from './test/support/limits.ts';
import { TimedSequencer } from './test/support/timed-sequencer.ts';

/** They compare memory, take every processor for a while, or promise something within seconds: no more than two at once. */
const inPairs = [
  'contract/envoy-proxy',
  'e2e/discovery-crowd',
  'e2e/hostile-clients',
  'e2e/layouts',
  'e2e/load',
  'e2e/machine-faults',
  'e2e/orphan',
].map((name) => `test/${name}.test.ts`);
const endToEnd = [
  'test/e2e/**/*.test.ts',
  'test/contract/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/differential/**/*.test.ts',
];

export default defineConfig({
  test: {
    ...limits,
    sequence: { sequencer: TimedSequencer },
    globalSetup: ['test/support/tell-left-out.ts'],
    setupFiles: process.env['TIMINGS'] ? ['./test/support/note-cpu.ts'] : [],
    reporters: [
      'default',
      './test/support/tell-failed.ts',
      ...(process.env['TIMINGS'] ? ['./test/support/note-timings.ts'] : []),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/packaged/**', ...endToEnd, ...apart],
          isolate: false,
          maxWorkers: 2,
        },
      },
      { extends: true, test: { name: 'apart', include: apart, maxWorkers: 2 } },
      {
        extends: true,
        test: {
          name: 'end-to-end',
          include: endToEnd,
          exclude: inPairs,
          globalSetup: ['test/support/e2e/shared-kube.ts'],
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'in-pairs', include: inPairs, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
