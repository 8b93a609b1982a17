import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Modules without one main thing, or whose name is not theirs to choose. */
const manyThings = ['agent/model.ts', 'agent/ports.ts', 'sds/stream-model.ts', 'cli/main.ts', 'cli/load.ts', 'index.ts'];

const longest = 150;
/** Modules of more lines, each with its reason. */
const long: Readonly<Record<string, string>> = {
  'agent/reducer.ts': 'one exhaustive switch over all events: apart, its cases could not be read against each other',
};
const limits: Readonly<Record<string, number>> = { 'cli/main.ts': 60 };
const longestOperator = 60;

const all = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort();
/** Without what is generated, whose names and sizes are its generator's. */
const sources = all.filter((name) => !name.startsWith(`proto${sep}`));
const text = (file: string) => readFileSync(join('src', file), 'utf8');
const folderOf = (file: string) => (file.includes(sep) ? (file.split(sep)[0] ?? '') : '.');

function exportsOf(code: string): readonly string[] {
  return ts.createSourceFile('x.ts', code, ts.ScriptTarget.Latest).statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement) || ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true)
      return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    const { name } = statement as ts.DeclarationStatement;
    return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
  });
}

const camelCase = (file: string) => basename(file, '.ts').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
const upperFirst = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

describe('the checks of the architecture', () => {
  it('see what a module exports', () => {
    const code =
      'export const a = 1, b = 2; export async function c() {} export class D {} export interface E {} export type F = 1; const g = 1;';
    expect(exportsOf(code)).toEqual(['a', 'b', 'c', 'D', 'E', 'F']);
  });

  it('have no exception that is not needed any more', () => {
    expect(Object.keys(long).filter((file) => !sources.includes(file) || text(file).split('\n').length - 1 <= longest)).toEqual([]);
  });
});

describe('npm run lint:architecture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-architecture-'));
  const cases: readonly (readonly [file: string, code: string, rule: string])[] = [
    ['agent/folder.ts', "import { a } from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/type.ts', "import type { A } from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/inline.ts', "type A = import('../proxy/a.ts').A;", 'agent imports only what its row allows'],
    ['agent/later.ts', "const a = async () => import('../proxy/a.ts');", 'agent imports only what its row allows'],
    ['agent/again.ts', "export * from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/built-in.ts', "import 'node:fs';", 'agent imports only what its row allows'],
    ['config/whole-package.ts', "import 'zod';", 'config imports only what its row allows'],
    ['config/not-there.ts', "import 'zod/none';", 'config imports only what its row allows'],
    ['config/to-test.ts', "import '../../test/a.ts';", 'config imports only what its row allows'],
    ['cli/to-test.ts', "import '../../test/a.ts';", 'cli imports only what its row allows'],
    ['log/root.ts', "import '../cli/a.ts';", 'log imports only what its row allows'],
    ['index.ts', "export * from './cli/a.ts';", 'index.ts imports only what its row allows'],
    ['cli/dev.ts', "import 'vitest';", 'src needs dependencies only'],
    ['cli/nested.ts', "import 'strip-final-newline';", 'src needs dependencies only'],
    ['elsewhere/a.ts', "import '../agent/a.ts';", 'each folder has a row in architecture.json'],
    ['admin/one.ts', "import type { B } from './other.ts'; export type A = B;", 'no cycle'],
  ];
  const right: readonly (readonly [file: string, code: string])[] = [
    ...['agent', 'cli', 'proxy'].map((name) => [`${name}/a.ts`, 'export const a = 1; export type A = 1;'] as const),
    ['../test/a.ts', 'export {};'],
    ['admin/other.ts', "import type { A } from './one.ts'; export type B = A | 1;"],
    ['config/part.ts', "import 'zod/mini';"],
    ['config/text.ts', `// import '../cli/a.ts';\nconst a = "import '../cli/a.ts';";`],
    ['proxy/all.ts', "import 'node:fs'; import 'rxjs'; import 'execa'; import '../agent/a.ts'; import './a.ts';"],
    ['cli/all.ts', "import 'node:fs'; import 'rxjs'; import '../proxy/a.ts'; import './a.ts'; import '../../package.json';"],
  ];
  let violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[] = [];

  beforeAll(() => {
    for (const [file, code] of [...cases, ...right]) {
      mkdirSync(join(folder, 'src', dirname(file)), { recursive: true });
      writeFileSync(join(folder, 'src', file), code);
    }
    copyFileSync('package.json', join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const args = ['--config', resolve('.dependency-cruiser.mjs'), '--output-type', 'json', 'src'];
    const { stdout } = spawnSync(resolve('node_modules/.bin/depcruise'), args, { cwd: folder, encoding: 'utf8' });
    violations = (JSON.parse(stdout) as { summary: { violations: typeof violations } }).summary.violations;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(cases)('refuses src/%s: %s', (file, _, rule) => {
    expect(violations.filter(({ from }) => from === `src/${file}`).map(({ rule: { name } }) => name)).toContain(rule);
  });

  it('refuses nothing else', () => {
    const wrong = [...cases.map(([file]) => `src/${file}`), 'src/admin/other.ts'];
    expect(violations.filter(({ from }) => !wrong.includes(from))).toEqual([]);
  });
});

describe('names', () => {
  it.each(sources.filter((file) => !manyThings.includes(file)))('src/%s exports what it is named after', (file) => {
    const name = camelCase(file);
    expect(exportsOf(text(file)).filter((exported) => [name, upperFirst(name)].includes(exported))).not.toEqual([]);
  });

  it.each(sources)('src/%s is in kebab-case, and says what it is about', (file) => {
    expect(basename(file)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/);
    expect(file).not.toMatch(/utils?|helpers?|manager|common|service/);
  });
});

describe('sizes', () => {
  it.each(sources.filter((file) => !(file in long)))('src/%s is no longer than a module should be', (file) => {
    const limit = limits[file] ?? (folderOf(file) === 'operators' ? longestOperator : longest);
    expect(text(file).split('\n').length - 1).toBeLessThanOrEqual(limit);
  });
});
