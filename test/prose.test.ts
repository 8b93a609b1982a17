import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** In columns. A table may be wider where a cell cannot be shorter. */
const widest = 120;
/** In lines. */
const longestArchitecture = 200;

const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');

const pages = readdirSync('docs/architecture').map((name) => join('docs/architecture', name));

describe.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages])('%s', (path) => {
  it(`has no line of more than ${widest} columns outside of tables`, () => {
    expect(linesOf(path).filter((line) => Array.from(line).length > widest && !line.startsWith('|'))).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it(`has ${longestArchitecture} lines at most`, () => {
    expect(linesOf('ARCHITECTURE.md').length).toBeLessThanOrEqual(longestArchitecture);
  });
});
