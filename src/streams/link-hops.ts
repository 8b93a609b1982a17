import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Entry (an absolute path whose folders are no links) → identity of what is there, followed by `/`
 * for a folder; '' for nothing.
 */
export type LinkHops = ReadonlyMap<string, string>;

/** The kernel's limit: it gives up with ELOOP after 40 links (path_resolution(7)). */
const maxLinks = 40;

/**
 * Returns the identity of a file or folder. An inode number alone is not enough, because ext4
 * reuses it as soon as it is free. Pure.
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
 * Walks `path` as the kernel does and resolves with every entry whose change can change the target
 * of the path: each folder, each link and the file at the end. The walk stops at the first entry
 * that is absent: the path changes when that entry appears. Never rejects.
 */
export async function linkHops(path: string): Promise<LinkHops> {
  const hops = new Map<string, string>();
  const names = namesOf(path.startsWith('/') ? path : `${process.cwd()}/${path}`);
  let folder = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      folder = dirname(folder); // not by text: `folder` has no links left in it
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
