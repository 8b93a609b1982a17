import { readdirSync, readFileSync } from 'node:fs';

/**
 * The test files that each run in a process of their own. They replace a module or the timers,
 * which other files in the process would see, or they inspect the memory of their process.
 */
export const apart = [
  'test/marbles/profile.test.ts',
  ...readdirSync('test/unit', { recursive: true, encoding: 'utf8' })
    .map((name) => `test/unit/${name}`)
    .filter(
      (file) =>
        file.endsWith('.test.ts') &&
        /\bvi\.(?:mock|doMock|useFakeTimers)\(/.test(readFileSync(file, 'utf8')),
    ),
];
