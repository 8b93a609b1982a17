import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The files that import each file, by its path from the root. */
export type Importers = ReadonlyMap<string, readonly string[]>;

/** This file needs a real Kubernetes API, which a copy of the tree does not have. */
export const overRealServers = 'test/contract/real-registries.test.ts';

const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.{1,2}\/[^']+)'/g;

/** Reads which file of `src` and `test` imports which, also by `import()` and for types. */
export function importersOf(): Importers {
  const importers = new Map<string, string[]>();
  const paths = ['src', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.m?ts$/.test(path))
      .map((path) => join(folder, path)),
  );
  for (const path of paths)
    for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(specifiers)) {
      const target = join(dirname(path), specifier);
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  return importers;
}

/**
 * Returns the tests that depend on a file, except {@link overRealServers}: first those that are
 * named after it, then marbles, which take no time, then the others. In each group, those with
 * fewer files in between are first. Pure.
 */
export function reachedTests(path: string, importers: Importers): readonly string[] {
  const reached = new Set([path]);
  for (const file of reached)
    for (const importer of importers.get(file) ?? []) reached.add(importer);
  const rank = (test: string): number => {
    if (basename(test).split('.')[0] === basename(path, '.ts')) return 0;
    return test.startsWith('test/marbles/') ? 1 : 2;
  };
  return [...reached]
    .filter(
      (file) =>
        /^test\/(?:unit|marbles|contract)\/.*\.test\.ts$/.test(file) && file !== overRealServers,
    )
    .sort((a, b) => rank(a) - rank(b));
}
