import { describe, expect, it } from 'vitest';
import { growthRatio } from '../../../support/growth-ratio.ts';
import { widthOf, wrapped } from '../../../../src/pilot-agent/terminal/text-width.ts';

describe('a text in several lines', () => {
  it.each([
    ['a short one', 20, ['a short one']],
    ['', 20, ['']],
    ['breaks between words', 11, ['breaks', 'between', 'words']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['a /path/that/is/long', 10, ['a /path/th', 'at/is/long']],
    ['証明書証明書', 4, ['証明', '書証', '明書']],
    ['anything', Infinity, ['anything']],
  ] as const)('of %j in %d columns', (text, width, lines) => {
    expect(wrapped(text, width)).toEqual(lines);
  });

  it('has all of the text, and no line that is too wide, in whatever width', () => {
    const text =
      'Envoy refuses its configuration: ★ 証明書 ★ /etc/istio/proxy/envoy.json: no such field';
    for (let width = 2; width < 100; width += 1) {
      const lines = wrapped(text, width);
      expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }
  });

  it.each(['some words ', '証明書 ★ '])('is broken in time with its length: many %j', (words) => {
    const broken = (count: number) => {
      const text = words.repeat(count);
      return () => wrapped(text, 63);
    };
    expect(growthRatio(broken(50), broken(400), 24)).toBeLessThan(24);
  });

  it('keeps the style of what it breaks', () => {
    expect(wrapped('\x1b[31mred words\x1b[39m', 4)).toEqual([
      '\x1b[31mred\x1b[39m',
      '\x1b[31mword\x1b[39m',
      '\x1b[31ms\x1b[39m',
    ]);
  });
});
