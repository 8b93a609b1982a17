// Checks types and lints, both with one program of the compiler. Without an argument it checks only
// files whose verdict may have changed since they last passed. If no earlier run is known, it
// checks the files that the changes since the last commit can affect. With `--all` it checks all
// files.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ESLint } from 'eslint';
import type ts from 'typescript';
import { changedSinceCommit } from './changed-files.ts';
import { fileKeys, reachedFiles } from './file-keys.ts';
import { ownFiles, pathOf, projectPrograms, diagnosticsText } from './project-programs.ts';

const cacheFile = 'node_modules/.cache/check/types-and-lint.json';
/** A change of one of these files may change every verdict. */
const rules = [
  'package-lock.json',
  'eslint.config.js',
  'scripts/lint-arguments.mjs',
  'scripts/lint-outside-names.mjs',
  'scripts/plain-english.mjs',
  'tsconfig.json',
  'src/pilot-agent/page/tsconfig.json',
];

interface Cache {
  /** The keys of files that have passed. */
  readonly good: readonly string[];
  readonly shapes: readonly (readonly [key: string, shape: string])[];
}

/** Undefined at the first run, or if the cache file is incomplete. */
function readCache(): Cache | undefined {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8')) as Cache;
  } catch {
    return undefined;
  }
}

const isAll = process.argv.includes('--all');
const cache = readCache();
const knownShapes = new Map(cache?.shapes);
const world = [
  process.version,
  ...rules.map((file) => createHash('sha256').update(readFileSync(file)).digest('hex')),
].join();

type IsGood = (path: string, key: string) => boolean;

/** Returns a function that tells whether a file of a program has already passed. */
function goodFiles(): (program: ts.Program) => IsGood {
  const noFile = () => () => false;
  if (isAll) return noFile;
  if (cache !== undefined) {
    const keys = new Set(cache.good);
    return () => (_, key) => keys.has(key);
  }
  const changed = changedSinceCommit('.');
  if (changed === 'everything' || rules.some((rule) => changed.includes(rule))) return noFile;
  return (program) => {
    const reached = reachedFiles(program, changed);
    return (path) => !reached.has(path);
  };
}

const programs = projectPrograms();
const flaws: string[] = [];
const wrong = new Set<string>();
const keys: (readonly [path: string, key: string])[] = [];
const shapes = new Map<string, string>();
const open = new Set<string>();
const goodIn = goodFiles();
for (const program of programs) {
  const isGood = goodIn(program);
  const programKeys = fileKeys(program, world, knownShapes);
  for (const [key, shape] of programKeys.shapes) shapes.set(key, shape);
  for (const file of ownFiles(program)) {
    const path = pathOf(file.fileName);
    const key = programKeys.keys.get(path) ?? '';
    keys.push([path, key]);
    if (isGood(path, key)) continue;
    open.add(path);
    const diagnostics = [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ];
    if (diagnostics.length > 0) wrong.add(path);
    flaws.push(diagnosticsText(diagnostics));
  }
}
const inProgram = [...open].filter((path) => /\.tsx?$/.test(path));
const eslint = new ESLint({
  overrideConfig: [
    {
      files: ['**/*.{ts,tsx}'],
      languageOptions: { parserOptions: { programs, projectService: false } },
    },
  ],
  warnIgnored: false,
});
const results = inProgram.length === 0 ? [] : await eslint.lintFiles(inProgram);
for (const { filePath, messages } of results) if (messages.length > 0) wrong.add(pathOf(filePath));
flaws.push(await (await eslint.loadFormatter('stylish')).format(results));

const output = flaws.filter((text) => text.trim() !== '').join('\n');
if (output !== '') process.stdout.write(`${output}\n`);
mkdirSync(dirname(cacheFile), { recursive: true });
const stillGood = keys.flatMap(([path, key]) => (wrong.has(path) ? [] : [key]));
writeFileSync(cacheFile, JSON.stringify({ good: stillGood, shapes: [...shapes] } satisfies Cache));
process.stdout.write(
  `types and lint: ${String(open.size)} of ${String(new Set(keys.map(([path]) => path)).size)} files\n`,
);
process.exitCode = wrong.size > 0 ? 1 : 0;
