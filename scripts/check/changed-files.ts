import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** By path: the hash of what is in each file of the checkout that Git does not ignore. */
export type Contents = Readonly<Record<string, string>>;

/** What the files of the checkout hold now. Throws outside a checkout. */
export function contentsNow(): Contents {
  const { stdout, status, stderr } = spawnSync('git', ['ls-files', '-coz', '--exclude-standard'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`git ls-files: ${stderr}`);
  const paths = [...new Set(stdout.split('\0'))]
    .filter((path) => path !== '' && existsSync(path))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha1').update(readFileSync(path)).digest('hex')]),
  );
}

const fileOf = (stage: string) => `node_modules/.cache/check/${stage}.json`;

/** The paths that differ from when a stage was good last: other content, new, or gone. */
export function changedSince(stage: string, now: Contents): string[] | 'everything' {
  const file = fileOf(stage);
  if (!existsSync(file)) return 'everything';
  const before = JSON.parse(readFileSync(file, 'utf8')) as Contents;
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((path) => before[path] !== now[path])
    .sort();
}

/** Keeps that a stage is good with these contents. */
export function rememberGood(stage: string, contents: Contents): void {
  mkdirSync(dirname(fileOf(stage)), { recursive: true });
  writeFileSync(fileOf(stage), JSON.stringify(contents));
}
