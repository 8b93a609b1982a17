import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** What each folder of src may import: folders of src, packages, and `node:` for all that Node brings along. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  operators: ['operators', 'rxjs'],
  admin: ['admin', 'operators', 'rxjs', 'node:'],
  agent: ['agent', 'operators', 'rxjs'],
  streams: ['streams', 'operators', 'rxjs', 'chokidar', 'node:'],
  log: ['log', 'rxjs', 'pino', 'pino-pretty', 'node:'],
  proxy: ['proxy', 'agent', 'admin', 'operators', 'log', 'secrets', 'rxjs', 'execa', 'yaml', 'node:'],
  status: ['status', 'agent', 'admin', 'config', 'operators', 'rxjs', 'node:'],
  config: ['config', 'zod/mini', 'node:'],
  node: ['node', 'operators', 'rxjs', 'node:'],
  bootstrap: ['bootstrap', 'config', 'node', 'node:'],
  proto: ['proto', '@bufbuild/protobuf', '@bufbuild/protobuf/codegenv2', '@bufbuild/protobuf/wkt'],
  grpc: ['@bufbuild/protobuf', '@grpc/grpc-js'],
  ca: [
    'ca',
    'secrets',
    'status',
    'grpc',
    'proto',
    'operators',
    'log',
    'rxjs',
    '@bufbuild/protobuf',
    '@grpc/grpc-js',
    '@peculiar/x509',
    'reflect-metadata',
    'jose',
    'node:',
  ],
  secrets: ['secrets', 'status', 'streams', 'operators', 'log', 'rxjs', 'node:'],
  sds: [
    'sds',
    'secrets',
    'status',
    'grpc',
    'proto',
    'operators',
    'log',
    'rxjs',
    '@bufbuild/protobuf',
    '@bufbuild/protobuf/wkt',
    '@grpc/grpc-js',
    'node:',
  ],
  sts: ['sts', 'node', 'operators', 'rxjs', 'node:'],
  envoy: ['envoy', 'operators', 'rxjs', 'execa', 'node:'],
};
/** May import everything, and is imported by nobody. */
const root = 'cli';

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

/** All that a module imports or re-exports: on one line or more, types too, and at run time. */
function importsOf(code: string): readonly string[] {
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** What an import names in the table: a folder of src, a package, `node:`; or a path out of src. */
function targetOf(file: string, name: string): string {
  if (!name.startsWith('.')) return name.replace(/^node:.*/, 'node:');
  const path = normalize(join(dirname(file), name));
  return path.startsWith('..') ? path : folderOf(path);
}

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
  it('see imports on one line and on several, of types, of side effects, at run time, and re-exports; but no text', () => {
    const code = `
      import { a } from 'one';
      import {
        b,
        type C,
      } from 'two';
      import type { D } from 'three';
      import 'four';
      export { e } from 'five';
      export * from './six.ts';
      const f = async () => (await import('seven')).default;
      type G = import('eight').G;
      // import { h } from 'nine';
      const i = "import { i } from 'ten';";
    `;
    expect([...importsOf(code)].sort()).toEqual(['./six.ts', 'eight', 'five', 'four', 'one', 'seven', 'three', 'two']);
  });

  it.each([
    ['streams/watch-files.ts', '../operators/settle.ts', 'operators'],
    ['streams/watch-files.ts', './link-hops.ts', 'streams'],
    ['streams/watch-files.ts', 'node:fs/promises', 'node:'],
    ['config/resolve-config.ts', 'zod/mini', 'zod/mini'],
    ['cli/version.ts', '../../package.json', '../package.json'],
  ])('take in %s "%s" for %s', (file, name, target) => {
    expect(targetOf(file, name)).toBe(target);
  });

  it('see what a module exports', () => {
    const code =
      'export const a = 1, b = 2; export async function c() {} export class D {} export interface E {} export type F = 1; const g = 1;';
    expect(exportsOf(code)).toEqual(['a', 'b', 'c', 'D', 'E', 'F']);
  });

  it('know each folder of src', () => {
    const folders = [...new Set(all.map(folderOf))].filter((folder) => folder !== '.');
    expect(folders.filter((folder) => folder !== root && !(folder in allowed))).toEqual([]);
  });

  it('have no exception that is not needed any more', () => {
    expect(Object.keys(long).filter((file) => !sources.includes(file) || text(file).split('\n').length - 1 <= longest)).toEqual([]);
  });
});

describe('imports', () => {
  it.each(all.filter((file) => folderOf(file) !== root))('src/%s imports only what its folder may', (file) => {
    const folder = folderOf(file);
    const may = (target: string) =>
      folder === '.' ? target !== root && !target.startsWith('..') : (allowed[folder] ?? []).includes(target);
    expect(importsOf(text(file)).filter((name) => !may(targetOf(file, name)))).toEqual([]);
  });

  it('of cli are cli’s own affair: nobody else imports it', () => {
    const others = sources.filter((file) => folderOf(file) !== root);
    expect(others.filter((file) => importsOf(text(file)).some((name) => targetOf(file, name) === root))).toEqual([]);
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
