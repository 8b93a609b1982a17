import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Entry (an absolute path, free of links up to its last name) → identity of what is there, with `/`
 * at its end for a folder; '' for nothing.
 */
export type LinkHops = ReadonlyMap<string, string>;

/** As in the kernel, which gives up with ELOOP after 40 links (path_resolution(7)). */
const maxLinks = 40;

/**
 * Names a file or folder as long as it exists. An inode number alone is given to the next one as
 * soon as its own is gone (ext4). Pure.
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
 * Walks `path` as the kernel does and resolves with every entry whose change can change what the
 * path leads to: each folder, each link and the file at the end. The walk stops at the first entry
 * that is absent, whose appearance is then what matters. Never rejects.
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
    const found = await entryAt(entry);
    hops.set(
      entry,
      found === undefined ? '' : `${found.identity}${found.stats.isDirectory() ? '/' : ''}`,
    );
    if (found?.stats.isSymbolicLink() && ++links <= maxLinks) {
      const target = await targetOf(entry);
      if (target.startsWith('/')) folder = '/';
      names.unshift(...namesOf(target));
    } else if (found?.stats.isDirectory()) folder = entry;
    else break;
  }
  return hops;
}
