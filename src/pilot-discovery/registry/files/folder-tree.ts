import { type BigIntStats, type Dirent, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { TakenEntries } from '../../../streams/changed-entries.ts';
import { identityOf } from '../../../streams/link-hops.ts';
import { specialSystems } from './special-system.ts';

/** What a look at a folder, and at the folders in it, has found. */
interface Seen {
  /** Why the folder cannot be listed; nothing else is known then. */
  readonly lost: string | undefined;
  /** Files that may say something else than before. */
  readonly changed: readonly string[];
  /** Files that are not there any more. */
  readonly gone: readonly string[];
  /**
   * Why folders in it cannot be listed, by path, where all was looked at. What was in them counts
   * as being there.
   */
  readonly unlisted: ReadonlyMap<string, string> | undefined;
}

/** What was there at the last look. Immutable. */
export interface FolderTree {
  /** Path → identity, of the folder itself and of those in it. */
  readonly folders: ReadonlyMap<string, string>;
  /**
   * The folder itself, and links to files and folders in it; not those over `..data`, whose swap
   * the folder tells.
   */
  readonly paths: readonly string[];
  /** Path → state of each file. */
  readonly files: SortedMap<string>;
}

interface TreeLook {
  readonly tree: FolderTree;
  readonly seen: Seen;
}

/** Of a folder that nobody has looked at. */
export const unknownTree: FolderTree = { folders: new Map(), paths: [], files: SortedMap.empty() };

/** In all. Beyond, somebody has named the wrong folder. */
const most = { files: 100_000, folders: 100_000 };
/** So many entries are looked at in a step. */
const inStep = 64;
/** Links that are watched; others are looked at now and then. */
const mostLinks = 1_000;

const isMeant = (name: string) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.');

/**
 * Looks at the files `*.yaml, *.yml, *.json` of a folder and of the folders in it, links followed.
 * Names with a dot in front do not count: they are those of Kubernetes and of editors. A file
 * counts as changed if it is new, not what it was (by inode, size, times), or named as such.
 */
export function* lookAtTree(
  root: string,
  tree: FolderTree,
  taken: TakenEntries,
): Generator<undefined, TreeLook, undefined> {
  const isSame = tree.folders.get(root) === identityAt(root);
  const look = taken.entries === 'all' || !isSame ? undefined : lookAtNamed(tree, taken.entries);
  return look ?? (yield* lookAtAll(root, tree));
}

function* lookAtAll(
  root: string,
  { files }: FolderTree,
): Generator<undefined, TreeLook, undefined> {
  const nothing = (lost: string): TreeLook => ({
    tree: { folders: new Map(), paths: [root], files }, // all is looked at the next time
    seen: { lost, changed: [], gone: [], unlisted: undefined },
  });
  const [unlisted, now] = [new Map<string, string>(), new Map<string, string>()];
  const [folders, visited] = [new Map<string, string>(), new Set<string>()];
  const links: string[] = [];
  const specialOf = specialSystems();
  const skipped = (path: string, system: string) =>
    unlisted.set(path, `it is in ${system}, and no file of a user`);
  const waiting = [root];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const listed = list(folder);
    if (typeof listed === 'string') {
      if (folder === root) return nothing(listed);
      unlisted.set(folder, listed);
      continue;
    }
    if (visited.has(listed.identity)) continue; // a link back
    visited.add(listed.identity);
    const system = specialOf(folder, listed.device);
    if (system !== undefined) {
      skipped(folder, system);
      continue;
    }
    if (folders.size === most.folders) return nothing(`it has more than ${most.folders} folders`);
    folders.set(folder, listed.identity);
    for (const entry of listed.entries) {
      if ((count += 1) % inStep === 0) yield;
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
  const isHidden = (path: string) =>
    [...unlisted.keys()].some((folder) => path.startsWith(`${folder}/`));
  const missing = [...files.keys()].filter((path) => !now.has(path));
  const gone = missing.filter((path) => !isHidden(path));
  const changed = [...now].filter(([path, state]) => files.get(path) !== state);
  return {
    tree: {
      folders,
      paths: [root, ...links.slice(0, mostLinks)],
      files: files.with([...changed, ...gone.map((path) => [path, undefined] as const)]),
    },
    seen: { lost: undefined, changed: changed.map(([path]) => path), gone, unlisted },
  };
}

/** Undefined where more than files has changed. */
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
    seen: { lost: undefined, changed: [...changed.keys()], gone, unlisted: undefined },
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

/** What is in a folder, or why that cannot be told. */
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
