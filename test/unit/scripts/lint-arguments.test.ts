import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Linter, type Rule } from 'eslint';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { expect, it } from 'vitest';

type Rules = Readonly<Record<'givenValues' | 'namedArguments', Rule.RuleModule>>;

/** Returns the lines of a file of ours that a rule reports. */
async function linesFound(rule: keyof Rules, lines: readonly string[]): Promise<readonly number[]> {
  const rules = (await import(resolve('scripts/lint-arguments.mjs'))) as Rules;
  const folder = mkdtempSync(join(tmpdir(), 'lint-arguments-'));
  const filename = join(folder, 'src/some.ts');
  mkdirSync(dirname(filename));
  writeFileSync(filename, lines.join('\n'));
  const options = { strict: true, target: ts.ScriptTarget.ES2022, types: [] };
  const config = {
    files: ['**/*.ts'],
    plugins: { local: { rules: { rule: rules[rule] } } },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { programs: [ts.createProgram([filename], options)] },
    },
    rules: { 'local/rule': 'error' as const },
  };
  const messages = new Linter({ cwd: folder }).verify(lines.join('\n'), [config], filename);
  rmSync(folder, { recursive: true });
  return messages.map(({ line }) => line);
}

it('a boolean that is an argument of a function of the program is found', async () => {
  const lines = [
    'const drain = (epoch: number, graceful: boolean) => graceful && epoch > 0;',
    'const given = (options: { readonly graceful: boolean }) => options.graceful;',
    'const graceful = 1 > 0;',
    'export const good = [drain(0, graceful), given({ graceful: true }), [].concat(true as never)];',
    'export const more = [Boolean(true), String(false)];',
    'export const bad = drain(0, true);',
    'export const nested = drain(0, !drain(1, false));',
  ];
  expect(await linesFound('namedArguments', lines)).toEqual([6, 7]);
});

it('a default of a parameter is found, and not one that is the world', async () => {
  const lines = [
    'const asyncScheduler = { now: () => 0 };',
    'export const good = (options: object = {}, more: string[] = [], scheduler = asyncScheduler) => [options, more, scheduler];',
    'export const inside = ({ port = 80 }: { readonly port?: number }) => port;',
    'export const bad = (port = 80) => port;',
    "export function worse(name: string, namespace = 'default') { return name + namespace; }",
    'export class Worst { at(port = 80) { return port; } }',
  ];
  expect(await linesFound('givenValues', lines)).toEqual([4, 5, 6]);
});
