import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  decisionOf,
  decisions,
  decisionsFolder,
  decisionsIndex,
  decisionsPage,
} from '../scripts/docs/decisions.ts';
import { read, sources } from './support/source-text.ts';

const all = decisions();
const code = [
  ...sources,
  ...readdirSync('scripts', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .map((name) => join('scripts', name)),
];
const pagesNamedIn = (file: string) =>
  [...read(file).matchAll(/^\/\/ Why: (\S+)$/gm)].map(([, page = '']) => page);

describe('docs/decisions', () => {
  it('is listed on a page that `npm run docs` has made of it as it is now', () => {
    expect(read(decisionsIndex)).toBe(decisionsPage());
  });

  it('numbers its pages from 1, without a gap', () => {
    expect(all.map(({ file }) => Number(file.slice(0, 3)))).toEqual(
      all.map((_, index) => index + 1),
    );
  });

  it('has context, decision and consequences on each page, and what was measured, if anything was', () => {
    const form = /^Context Decision (?:Measured )?Consequences$/;
    expect(
      all.filter(({ sections }) => !form.test(sections.join(' '))).map(({ file }) => file),
    ).toEqual([]);
  });

  it('explains files that link back, and no other file links to it', () => {
    const explained = all.flatMap(({ file, explained }) =>
      explained.map((path) => `${path}: ${join(decisionsFolder, file)}`),
    );
    expect(all.filter(({ explained }) => explained.length === 0)).toEqual([]);
    expect(
      code.flatMap((path) => pagesNamedIn(path).map((page) => `${path}: ${page}`)).sort(),
    ).toEqual(explained.sort());
    expect(all.flatMap(({ explained }) => explained).filter((path) => !existsSync(path))).toEqual(
      [],
    );
  });
});

describe('the reader of decisions', () => {
  const text = '# 7. A title\n\nArea: Secrets. It explains\n`src/a.ts`.\n\n## Context\n';

  it('reads number, title, area, files and sections', () => {
    expect(decisionOf('007-a-title.md', text)).toEqual({
      file: '007-a-title.md',
      title: 'A title',
      area: 'Secrets',
      explained: ['src/a.ts'],
      sections: ['Context'],
    });
  });

  it.each([
    ['008-a-title.md', text, '008-a-title.md has another number in its title: 7'],
    [
      '007-a-title.md',
      text.replace('Area', 'Part'),
      "007-a-title.md needs '# N. TITLE', then 'Area: AREA. It explains FILES.'",
    ],
  ])('refuses %s with another form', (file, wrong, reason) => {
    expect(() => decisionOf(file, wrong)).toThrow(reason);
  });
});
