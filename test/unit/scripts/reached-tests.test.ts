import { describe, expect, it } from 'vitest';
import { reachedTests } from '../../../scripts/check/reached-tests.ts';

const texts = new Map([
  ['test/prose.test.ts', "readFileSync('README.md')"],
  ['test/unit/golden.test.ts', "readdirSync('test/golden/cases')"],
  ['test/unit/install.test.ts', "import('../../scripts/install-programs.mjs')"],
  ['test/unit/other.test.ts', ''],
]);
const documents = ['test/prose.test.ts'];

describe('the tests that a change can reach', () => {
  it.each([
    ['nothing: those of documents', [], documents],
    ['a module: what imports it', ['src/agent/reduce.ts'], ['src/agent/reduce.ts', ...documents]],
    ['a test: that test', ['test/unit/other.test.ts'], ['test/unit/other.test.ts', ...documents]],
    [
      'a fixture: tests that name its folder',
      ['test/golden/cases/a.json'],
      ['test/unit/golden.test.ts', ...documents],
    ],
    [
      'a script: tests that name it',
      ['scripts/install-programs.mjs'],
      ['test/unit/install.test.ts', ...documents],
    ],
    ['a page: tests that name it', ['README.md'], documents],
    ['what all tests stand on: everything', ['test/support/load.ts'], 'everything'],
    ['packages: everything', ['package-lock.json'], 'everything'],
    [
      'very much: everything',
      Array.from({ length: 201 }, (_, index) => `src/agent/${String(index)}.ts`),
      'everything',
    ],
  ] as const)('%s', (_, changed, reached) => {
    expect(reachedTests(changed, texts)).toEqual(reached);
  });

  it('are all, if nothing is known of an earlier run', () => {
    expect(reachedTests('everything', texts)).toBe('everything');
  });
});
