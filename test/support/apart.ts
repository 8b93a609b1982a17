import { readdirSync, readFileSync } from 'node:fs';

/**
 * Each of these files has a process of its own: it exchanges a module or the timers, which others
 * in the process would see, or looks at the memory of its process.
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
