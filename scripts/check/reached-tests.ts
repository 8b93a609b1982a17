import { basename, dirname } from 'node:path';

/** A change of one of these files may affect every test. */
const reachesAll =
  /^(?:package(?:-lock)?\.json|vitest\.config\.ts|tsconfig\.json)$|^test\/support\//;
/** Modules, whose tests are found by their imports. */
const isModule = /^(?:src|test|scripts|demo|bench|examples)\/.*\.tsx?$/;
/** With more changed files, a run of all tests is not slower. */
const most = 200;

/**
 * The files from which `vitest related` finds the tests that a change can reach, or `everything`.
 *
 * A module is found by its imports. Any other file (a fixture, a page, a script) is found by its
 * name, or that of its folder, in the text of a test. `texts` has the text of each test. Tests of
 * documents read files of all kinds, so they are always among them.
 */
export function reachedTests(
  changed: readonly string[] | 'everything',
  texts: ReadonlyMap<string, string>,
): readonly string[] | 'everything' {
  if (
    changed === 'everything' ||
    changed.length > most ||
    changed.some((path) => reachesAll.test(path))
  )
    return 'everything';
  const documents = [...texts.keys()].filter((path) => dirname(path) === 'test');
  const named = changed
    .filter((path) => !isModule.test(path))
    .flatMap((path) => [basename(path), ...(dirname(path).includes('/') ? [dirname(path)] : [])]);
  const naming = [...texts].flatMap(([path, text]) =>
    named.some((name) => text.includes(name)) ? [path] : [],
  );
  return [...new Set([...changed.filter((path) => isModule.test(path)), ...naming, ...documents])];
}
