import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { type Finding, findingsOf } from '../../../../src/pilot-agent/check/finding.ts';
import { findingsText } from '../../../../src/pilot-agent/check/findings-text.ts';

const plain = (findings: readonly Finding[], width: number) =>
  findingsText('no agent runs', findings, { width, paint: (_, text) => text });
const { ok, warn, fail } = findingsOf('ports');

describe('findingsText', () => {
  it('has a paragraph for each finding, the name of a check once, and how many there are of each level', () => {
    const fix = 'end that process, or change --statusPort';
    const findings = [
      ok('15000: free'),
      fail('port taken', '15020 is taken', fix),
      findingsOf('tools').warn('tool.missing', 'sh is away', 'get it'),
    ];
    expect(plain(findings, Infinity).split('\n')).toEqual([
      'no agent runs',
      '',
      '√ ports  15000: free',
      '×        15020 is taken',
      `         → ${fix}`,
      '         docs/troubleshooting.md#port-taken',
      '‼ tools  sh is away',
      '         → get it',
      '         docs/troubleshooting.md#tool-missing',
      '',
      '1 failure, 1 warning, 1 in order',
    ]);
  });

  it.each([20, 40, 80, 200])(
    'fits %i columns, and begins each further line below the first',
    (width) => {
      const long = `a path ${'/very-long-name'.repeat(9)} of 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 and more words than a line has`;
      const lines = plain([warn('port taken', long, long)], width).split('\n');
      const widest = Math.max(width, 9 + 20);
      expect(lines.filter((line) => stringWidth(line) > widest)).toEqual([]);
      expect(lines.slice(3, -3).every((line) => /^ {9}\S/.test(line))).toBe(true);
      expect(lines.join('').replace(/\s/g, '')).toContain(long.replace(/\s/g, ''));
    },
  );
});
