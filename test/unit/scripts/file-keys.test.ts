import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileKeys, reachedFiles } from '../../../scripts/check/file-keys.ts';
import { pathOf } from '../../../scripts/check/project-programs.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pilot-agent-keys-')));
  for (const [name, text] of Object.entries(whole)) write(name, text);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The texts of files: `uses.ts` imports `type.ts`, and `far.ts` imports `uses.ts`. */
const whole = {
  'type.ts':
    'export interface Size { readonly bytes: number }\nexport const small = (): Size => ({ bytes: 1 });\n',
  'uses.ts': "import { small } from './type.ts';\nexport const size = () => small();\n",
  'far.ts':
    "import { size } from './uses.ts';\nexport const bytes = (): unknown => size().bytes;\n",
  'other.ts': 'export const other = 1;\n',
};
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

function program() {
  const options = {
    strict: true,
    declaration: true,
    allowImportingTsExtensions: true,
    emitDeclarationOnly: true,
    types: [],
  };
  return ts.createProgram(
    Object.keys(whole).map((name) => join(folder, name)),
    { ...options, outDir: 'dist', lib: [] },
  );
}
const keys = (world = 'one') => fileKeys(program(), world, new Map()).keys;
/** Returns the names of files that a change of one reaches, if no earlier run is known. */
function reachedBy(name: string): string[] {
  const reached = reachedFiles(program(), [pathOf(join(folder, name))]);
  return Object.keys(whole).filter((file) => reached.has(pathOf(join(folder, file))));
}
/** Returns the names of files whose key a change has changed. */
function changedBy(change: () => void): string[] {
  const before = keys();
  change();
  const after = keys();
  return Object.keys(whole).filter(
    (name) => before.get(pathOf(join(folder, name))) !== after.get(pathOf(join(folder, name))),
  );
}

describe('what is checked again', () => {
  it('is nothing if nothing has changed', () => {
    expect(changedBy(() => undefined)).toEqual([]);
  });

  it('is a file alone whose functions change inside', () => {
    expect(
      changedBy(() => write('type.ts', whole['type.ts'].replace('bytes: 1', 'bytes: 1 + 1'))),
    ).toEqual(['type.ts']);
  });

  it('is all that can see a type that changes, also through an inferred type of a file between', () => {
    const change = () =>
      write('type.ts', whole['type.ts'].replace('bytes: number', 'bytes: 1 | 2'));
    expect(changedBy(change)).toEqual(['type.ts', 'uses.ts', 'far.ts']);
  });

  it('is all that imported a file that is gone', () => {
    expect(changedBy(() => write('uses.ts', 'export {};\n'))).toEqual(['uses.ts', 'far.ts']);
  });

  it('is all that imports a changed file, directly or not, if no earlier run is known', () => {
    expect(reachedBy('uses.ts')).toEqual(['uses.ts', 'far.ts']);
  });

  it('is everything if no earlier run is known and a file is gone or holds everywhere', () => {
    expect(reachedBy('gone.ts')).toEqual(Object.keys(whole));
    write('other.ts', 'export {};\ndeclare global { const everywhere: 1; }\n');
    expect(reachedBy('other.ts')).toEqual(Object.keys(whole));
  });

  it('is everything if the rules change', () => {
    expect(
      [...keys('two').values()].filter((key) => [...keys('one').values()].includes(key)),
    ).toEqual([]);
  });
});
