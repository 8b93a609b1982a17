import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { medianWords, proseFlaws } from '../scripts/plain-english.mjs';

/** The limit in columns. A table may be wider if a cell cannot be shorter. */
const widest = 120;
/** The limits in lines. */
const longest = { 'README.md': 70, 'ARCHITECTURE.md': 225 };

const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...pages,
];

describe.each(documents)('%s', (path) => {
  it(`has no line of more than ${widest} columns outside of tables`, () => {
    expect(
      linesOf(path).filter((line) => Array.from(line).length > widest && !line.startsWith('|')),
    ).toEqual([]);
  });
});

it.each(Object.entries(longest))('%s has %i lines at most', (path, most) => {
  expect(linesOf(path).length).toBeLessThanOrEqual(most);
});

describe.each(documents)('the English of %s', (path) => {
  const text = readFileSync(path, 'utf8');

  it('has no fragment, no marker phrase and no sentence that is too long', () => {
    expect(proseFlaws(text)).toEqual([]);
  });

  it('has a median of 15 words in a sentence at most', () => {
    expect(medianWords(text)).toBeLessThanOrEqual(15);
  });
});

describe('CHANGELOG.md', () => {
  const lines = linesOf('CHANGELOG.md');

  it('has the changes to come, then a version with its date', () => {
    const [first, second] = lines.filter((line) => line.startsWith('## '));
    expect(first).toBe('## Unreleased');
    expect(second).toMatch(/^## \d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/);
  });

  it('has one line for each change', () => {
    expect(lines.filter((line) => /^\s+\S/.test(line))).toEqual([]);
  });
});
