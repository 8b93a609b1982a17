import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/packaged/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { interval: 20 } },
    maxWorkers: 2,
    globalSetup: ['test/support/tell-left-out.ts'],
  },
});
