import { describe, expect, it } from 'vitest';
import { failedLines } from '../../support/tell-failed.ts';

describe('the end of a failing run', () => {
  it('says what failed, and the command that repeats it alone', () => {
    expect(failedLines([{ file: 'test/unit/a.test.ts', name: "counts (it's 1.5)" }])).toEqual([
      "Failed: test/unit/a.test.ts > counts (it's 1.5)",
      "  again: npx vitest run test/unit/a.test.ts -t 'counts \\(it'\\''s 1\\.5\\)'",
    ]);
  });

  it('repeats a file that could not be loaded whole', () => {
    expect(failedLines([{ file: 'test/unit/a.test.ts', name: undefined }])).toEqual([
      'Failed: test/unit/a.test.ts',
      '  again: npx vitest run test/unit/a.test.ts',
    ]);
  });

  it('has ten lines at most, whatever failed', () => {
    const lines = failedLines(
      Array.from({ length: 30 }, (_, index) => ({
        file: `test/unit/${String(index % 7)}.test.ts`,
        name: 'a',
      })),
    );
    expect(lines.length).toBeLessThan(10);
    expect(lines.at(-1)).toMatch(/^and 26 more, in test\/unit\/4\.test\.ts /);
  });

  it('is silent after a good run', () => {
    expect(failedLines([])).toEqual([]);
  });
});
