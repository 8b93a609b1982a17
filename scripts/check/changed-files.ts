import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The hash of the content of each file of the checkout that Git does not ignore, by path. */
export type Contents = Readonly<Record<string, string>>;

/** Hashes the files of the checkout as they are now. Throws outside a checkout. */
export function contentsNow(): Contents {
  const paths = [...new Set(listed('.', 'ls-files', '-coz', '--exclude-standard'))]
    .filter((path) => existsSync(path))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha1').update(readFileSync(path)).digest('hex')]),
  );
}

const fileOf = (stage: string) => `node_modules/.cache/check/${stage}.json`;

/**
 * The paths of files that were changed, added or removed since a stage last passed. If no earlier
 * run is known, the paths of `changedSinceCommit`, because CI has checked the others.
 */
export function changedSince(stage: string, now: Contents): string[] | 'everything' {
  const file = fileOf(stage);
  if (!existsSync(file)) return changedSinceCommit('.');
  const before = JSON.parse(readFileSync(file, 'utf8')) as Contents;
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((path) => before[path] !== now[path])
    .sort();
}

/** Records that a stage has passed with these contents. */
export function rememberGood(stage: string, contents: Contents): void {
  mkdirSync(dirname(fileOf(stage)), { recursive: true });
  writeFileSync(fileOf(stage), JSON.stringify(contents));
}

/** The output of a Git command in a checkout, or undefined if the command fails. */
function git(cwd: string, ...args: readonly string[]): string | undefined {
  const { stdout, status } = spawnSync('git', args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return status === 0 ? stdout : undefined;
}

function listed(cwd: string, ...args: readonly string[]): string[] {
  const paths = git(cwd, ...args);
  if (paths === undefined) throw new Error(`git ${args.join(' ')} failed: is this a checkout?`);
  return paths.split('\0').filter((path) => path !== '');
}

/**
 * The paths that differ from the last commit that is in both this branch and its upstream, or from
 * the last commit if there is no upstream; everything if there is no commit.
 */
export function changedSinceCommit(checkout: string): string[] | 'everything' {
  const commit = (
    git(checkout, 'merge-base', 'HEAD', '@{upstream}') ?? git(checkout, 'rev-parse', 'HEAD')
  )?.trim();
  if (commit === undefined) return 'everything';
  const changed = listed(checkout, 'diff', '--name-only', '--no-renames', '-z', commit);
  return [
    ...new Set([...changed, ...listed(checkout, 'ls-files', '-oz', '--exclude-standard')]),
  ].sort();
}
