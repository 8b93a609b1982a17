import { type BigIntStats, type Dirent, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TakenEntries } from '../../../streams/changed-entries.ts';
import { identityOf } from '../../../streams/watch-files.ts';
import { specialSystems } from './special-system.ts';

/** What a look at a folder, and at the folders in it, has found. */
export interface Seen {
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

/** What has to be watched besides the folder itself. */
export interface Places {
  /** Path → identity. */
  readonly folders: ReadonlyMap<string, string>;
  /** Links to files and folders; not those over `..data`, whose swap the folder tells. */
  readonly links: readonly string[];
}

export interface FolderTree {
  readonly look: (changed: TakenEntries) => Generator<undefined, Seen, undefined>;
  /** Whether a file was there at the last look. */
  readonly has: (path: string) => boolean;
  readonly places: () => Places;
}

/** In all. Beyond, somebody has named the wrong folder. */
const most = { files: 100_000, folders: 100_000 };
/** So many entries are looked at in a step. */
const inStep = 64;
/** Links that are watched; others are looked at now and then. */
const mostLinks = 1_000;

const isMeant = (name: string) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.');

/**
 * The files `*.yaml, *.yml, *.json` of a folder and of the folders in it, links followed. Names
 * with a dot in front do not count: they are those of Kubernetes and of editors. A file counts as
 * changed if it is new, not what it was (by inode, size, times), or named as such.
 */
export function folderTree(root: string): FolderTree {
  let folders = new Map<string, string>();
  let links: string[] = [];
  let files = new Map<string, string>(); // path → state

  const nothing = (lost: string): Seen => {
    folders = new Map(); // all is looked at the next time
    return { lost, changed: [], gone: [], unlisted: undefined };
  };

  function* lookAtAll(): Generator<undefined, Seen, undefined> {
    const [unlisted, now] = [new Map<string, string>(), new Map<string, string>()];
    const [found, visited] = [new Map<string, string>(), new Set<string>()];
    const foundLinks: string[] = [];
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
      if (found.size === most.folders) return nothing(`it has more than ${most.folders} folders`);
      found.set(folder, listed.identity);
      for (const entry of listed.entries) {
        if ((count += 1) % inStep === 0) yield;
        if (entry.name.startsWith('.') || (entry.isFile() && !isMeant(entry.name))) continue;
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink() && !leadsOverData(path)) foundLinks.push(path);
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
    for (const [path, state] of files) if (!now.has(path) && isHidden(path)) now.set(path, state);
    const changed = [...now]
      .filter(([path, state]) => files.get(path) !== state)
      .map(([path]) => path);
    const gone = [...files.keys()].filter((path) => !now.has(path));
    [folders, links, files] = [found, foundLinks.slice(0, mostLinks), now];
    return { lost: undefined, changed, gone, unlisted };
  }

  /** Undefined where more than files has changed. */
  function lookAtNamed(taken: TakenEntries): Seen | undefined {
    const [changed, gone]: [string[], string[]] = [[], []];
    const specialOf = specialSystems();
    for (const folder of folders.keys()) {
      for (const name of taken.namesIn(folder) ?? []) {
        if (name.startsWith('.')) continue;
        const path = join(folder, name);
        const stats = statsOf(path);
        if (folders.has(path) || stats?.isDirectory() === true) return undefined;
        if (!isMeant(name)) continue;
        if (stats !== undefined && specialOf(path, stats.dev) !== undefined) return undefined;
        if (stats !== undefined) {
          files.set(path, stateOf(stats));
          changed.push(path);
        } else if (files.delete(path)) gone.push(path);
      }
    }
    return { lost: undefined, changed, gone, unlisted: undefined };
  }

  return {
    *look(taken) {
      const isSame = folders.get(root) === identityAt(root);
      const seen = taken.isAll || !isSame ? undefined : lookAtNamed(taken);
      return seen ?? (yield* lookAtAll());
    },
    has: (path) => files.has(path),
    places: () => ({ folders: new Map([...folders].filter(([path]) => path !== root)), links }),
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
