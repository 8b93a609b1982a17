import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The identity of each entry, by its absolute path, in which no folder is a link. The identity of a
 * folder ends with `/`. It is '' if the entry is absent.
 */
export type LinkHops = ReadonlyMap<string, string>;

/** The kernel fails with ELOOP after 40 links (path_resolution(7)). */
const maxLinks = 40;

/**
 * Returns the identity of a file or folder. The inode number is not enough, because ext4 reuses it
 * as soon as it is free. Pure.
 */
export function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

const entryAt = (entry: string) =>
  lstat(entry, { bigint: true }).then(
    (stats) => ({ stats, identity: identityOf(stats) }),
    () => undefined,
  );

const targetOf = (link: string) => readlink(link).catch(() => '');

const namesOf = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.');

/**
 * Follows `path` as the kernel does. Resolves with each entry on the way: folders, links, and the
 * file at the end. If one of them changes, the path may lead to another file. Stops at the first
 * absent entry: the path changes when that entry appears. Never rejects.
 */
export async function linkHops(path: string): Promise<LinkHops> {
  const hops = new Map<string, string>();
  const names = namesOf(path.startsWith('/') ? path : `${process.cwd()}/${path}`);
  let folder = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      folder = dirname(folder); // correct, because `folder` contains no links
      continue;
    }
    const entry = join(folder, name);
    const state = await entryAt(entry);
    hops.set(
      entry,
      state === undefined ? '' : `${state.identity}${state.stats.isDirectory() ? '/' : ''}`,
    );
    if (state?.stats.isSymbolicLink() && ++links <= maxLinks) {
      const target = await targetOf(entry);
      if (target.startsWith('/')) folder = '/';
      names.unshift(...namesOf(target));
    } else if (state?.stats.isDirectory()) folder = entry;
    else break;
  }
  return hops;
}
