import { type BigIntStats, type Dirent, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { PossibleChanges } from '../../../streams/changed-entries.ts';
import { identityOf } from '../../../streams/link-hops.ts';
import { specialSystems } from './special-system.ts';

/** The result of a look at a folder and at the folders in it. */
interface Seen {
  /** Why the folder cannot be listed. The other members are then empty. */
  readonly lost: string | undefined;
  /** Files whose content may have changed. */
  readonly changed: readonly string[];
  /** Files that no longer exist. */
  readonly gone: readonly string[];
  /**
   * Why folders in it cannot be listed, by path; undefined if only some entries were looked at. The
   * files in such folders count as existing.
   */
  readonly unlisted: ReadonlyMap<string, string> | undefined;
}

/** The state of a folder at the last look. Immutable. */
export interface FolderTree {
  /** The identities of the folder and of the folders in it, by path. */
  readonly folders: ReadonlyMap<string, string>;
  /**
   * The folder, and links to files and folders in it. Links through `..data` are left out: events
   * of the folder report when that is swapped.
   */
  readonly paths: readonly string[];
  /** The state of each file, by path. */
  readonly files: SortedMap<string>;
}

interface TreeLook {
  readonly tree: FolderTree;
  readonly changes: Seen;
}

/** A folder before its first look. */
export const unknownTree: FolderTree = { folders: new Map(), paths: [], files: SortedMap.empty() };

/** The limits for the whole tree. A larger tree means that the wrong folder was named. */
const most = { files: 100_000, folders: 100_000 };
/** The number of entries in one step. */
const tokensPerStep = 64;
/** The largest number of watched links. The other links are only looked at from time to time. */
const mostLinks = 1_000;

const isMeant = (name: string) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.');

/**
 * Looks at the files `*.yaml, *.yml, *.json` of a folder and of the folders in it; follows links.
 * Names that begin with a dot do not count: they belong to Kubernetes and to editors. A file counts
 * as changed if it is new, if it differs (by inode, size, times), or if `changes` name it.
 */
export function* lookAtTree(
  root: string,
  tree: FolderTree,
  changes: PossibleChanges,
): Generator<undefined, TreeLook, undefined> {
  const isSame = tree.folders.get(root) === identityAt(root);
  const look =
    changes.entries === 'all' || !isSame ? undefined : lookAtNamed(tree, changes.entries);
  return look ?? (yield* lookAtAll(root, tree));
}

function* lookAtAll(
  root: string,
  { files }: FolderTree,
): Generator<undefined, TreeLook, undefined> {
  const nothing = (lost: string): TreeLook => ({
    tree: { folders: new Map(), paths: [root], files }, // so that the next look covers everything
    changes: { lost, changed: [], gone: [], unlisted: undefined },
  });
  const [unlisted, now] = [new Map<string, string>(), new Map<string, string>()];
  const [folders, visited] = [new Map<string, string>(), new Set<string>()];
  const links: string[] = [];
  const specialOf = specialSystems();
  const skipped = (path: string, system: string) =>
    unlisted.set(path, `it is in ${system}, which has no files of users`);
  const waiting = [root];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const listed = list(folder);
    if (typeof listed === 'string') {
      if (folder === root) return nothing(listed);
      unlisted.set(folder, listed);
      continue;
    }
    if (visited.has(listed.identity)) continue; // a link back to a folder
    visited.add(listed.identity);
    const system = specialOf(folder, listed.device);
    if (system !== undefined) {
      skipped(folder, system);
      continue;
    }
    if (folders.size === most.folders) return nothing(`it has more than ${most.folders} folders`);
    folders.set(folder, listed.identity);
    for (const entry of listed.entries) {
      if ((count += 1) % tokensPerStep === 0) yield;
      if (entry.name.startsWith('.') || (entry.isFile() && !isMeant(entry.name))) continue;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink() && !leadsOverData(path)) links.push(path);
      const stats = entry.isDirectory() ? undefined : statsOf(path);
      if (entry.isDirectory() || stats?.isDirectory() === true) waiting.push(path);
      else if (stats !== undefined && isMeant(entry.name)) {
        const inSpecial = specialOf(path, stats.dev);
        if (inSpecial === undefined) now.set(path, stateOf(stats));
        else skipped(path, inSpecial);
      }
      if (now.size > most.files) return nothing(`it has more than ${most.files} files`);
    }
  }
  return wholeLook(root, files, { folders, links, files: now, unlisted });
}

/** Returns the result of a look at everything, given the files at the look before. */
function wholeLook(
  root: string,
  before: SortedMap<string>,
  {
    folders,
    links,
    files,
    unlisted,
  }: {
    readonly folders: ReadonlyMap<string, string>;
    readonly links: readonly string[];
    readonly files: ReadonlyMap<string, string>;
    readonly unlisted: ReadonlyMap<string, string>;
  },
): TreeLook {
  const isHidden = (path: string): boolean => {
    const folder = dirname(path);
    return unlisted.has(folder) || (folder.length > root.length && isHidden(folder));
  };
  const missing = [...before.keys()].filter((path) => !files.has(path));
  const gone = missing.filter((path) => !isHidden(path));
  const changed = [...files].filter(([path, state]) => before.get(path) !== state);
  return {
    tree: {
      folders,
      paths: [root, ...links.slice(0, mostLinks)],
      files: before.with([...changed, ...gone.map((path) => [path, undefined] as const)]),
    },
    changes: { lost: undefined, changed: changed.map(([path]) => path), gone, unlisted },
  };
}

/** Looks only at named entries. Returns undefined if anything other than files has changed. */
function lookAtNamed(
  tree: FolderTree,
  entries: ReadonlyMap<string, ReadonlySet<string>>,
): TreeLook | undefined {
  const changed = new Map<string, string>();
  const gone: string[] = [];
  const specialOf = specialSystems();
  for (const [folder, names] of entries) {
    if (!tree.folders.has(folder)) continue;
    for (const name of names) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      const stats = statsOf(path);
      if (tree.folders.has(path) || stats?.isDirectory() === true) return undefined;
      if (!isMeant(name)) continue;
      if (stats !== undefined && specialOf(path, stats.dev) !== undefined) return undefined;
      if (stats !== undefined) changed.set(path, stateOf(stats));
      else if (tree.files.has(path)) gone.push(path);
    }
  }
  const files = tree.files.with([...changed, ...gone.map((path) => [path, undefined] as const)]);
  return {
    tree: { ...tree, files },
    changes: { lost: undefined, changed: [...changed.keys()], gone, unlisted: undefined },
  };
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function identityAt(path: string): string | undefined {
  const stats = statsOf(path);
  return stats === undefined ? undefined : identityOf(stats);
}

function stateOf(stats: BigIntStats): string {
  return `${identityOf(stats)}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Returns the entries of a folder, or why it cannot be listed. */
function list(
  folder: string,
):
  | { readonly identity: string; readonly device: bigint; readonly entries: readonly Dirent[] }
  | string {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const stats = statSync(folder, { bigint: true });
    return { identity: identityOf(stats), device: stats.dev, entries };
  } catch (error) {
    return (error as Error).message;
  }
}

function leadsOverData(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('..data/');
  } catch {
    return false;
  }
}
