import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { eachPiece } from '../../shared/files/outside-file.ts';
import type { PossibleChanges } from '../../streams/changed-entries.ts';
import { identityOf } from '../../streams/link-hops.ts';

/** A file as it was last read. */
export interface TreeFile {
  /** sha256, hex; '' if it could not be read. */
  readonly digest: string;
  /** Its content, if the tree keeps it. */
  readonly bytes: Buffer | undefined;
  /** Why it could not be read. */
  readonly flaw: string | undefined;
}

/** The files that one path leads to. */
export interface TreePath {
  readonly path: string;
  readonly isFolder: boolean;
  /** By name: the files of a folder; '' for the path itself. */
  readonly files: ReadonlyMap<string, TreeFile>;
}

export interface TreeLimits {
  /** The largest size of a file, in bytes. */
  readonly largest: number;
  /** Whether the bytes of files are kept, or only their digests. */
  readonly keeps: boolean;
}

/** The maximum number of entries of a folder: if bytes are kept, and if they are only hashed. */
const most = { kept: 1_000, hashed: 100_000 };
/** The number of files that are read at once. */
const atOnce = 16;

interface CachedFile extends TreeFile {
  readonly state: string;
}

export interface FileTree {
  readonly look: (changed: PossibleChanges) => Promise<readonly TreePath[]>;
}

/**
 * Reads the files at paths, and the files in folders at paths, but not those in subfolders. Ignores
 * entries whose names begin with a dot: they belong to Kubernetes and to editors.
 *
 * `look` reads only new content: an unknown file, one whose inode, size or times changed, and one
 * that is reported as changed. Rejects if the system lacks a resource, or if a folder has too many
 * entries.
 */
export function fileTree(paths: readonly string[], limits: TreeLimits): FileTree {
  const folders = new Map<string, string>(); // the identity of each folder when it was listed
  const filesByPath = new Map<string, Map<string, CachedFile>>(
    paths.map((path) => [path, new Map()]),
  );

  async function look(path: string, changed: PossibleChanges): Promise<TreePath> {
    const files = filesByPath.get(path) ?? new Map<string, CachedFile>();
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    if (stats?.isDirectory() !== true) {
      folders.delete(path);
      for (const name of files.keys()) if (name !== '') files.delete(name);
      await see(files, '', path, changed.named.has(path) ? 'named' : 'found');
      return { path, isFolder: false, files };
    }
    const identity = identityOf(stats);
    if (changed.entries === 'all' || folders.get(path) !== identity) {
      const listed = await list(path, limits.keeps ? most.kept : most.hashed);
      for (const name of files.keys()) if (!listed.has(name)) files.delete(name);
      await each(listed, (name) => see(files, name, join(path, name), 'found'));
      folders.set(path, identity);
    } else {
      const names = [...(changed.entries.get(path) ?? [])].filter(counts);
      await each(names, (name) => see(files, name, join(path, name), 'named'));
    }
    return { path, isFolder: true, files };
  }

  async function see(
    files: Map<string, CachedFile>,
    name: string,
    path: string,
    how: 'found' | 'named',
  ): Promise<void> {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    if (stats === undefined || (name !== '' && stats.isDirectory())) return void files.delete(name);
    const state = stateOf(stats);
    if (how === 'found' && files.get(name)?.state === state) return;
    files.set(name, { state, ...(await read(path, limits)) });
  }

  return { look: (changed) => Promise.all(paths.map((path) => look(path, changed))) };
}

/** Identifies the content of a file, as far as possible without reading it. */
function stateOf(stats: BigIntStats): string {
  return [identityOf(stats), stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

function counts(name: string): boolean {
  return !name.startsWith('.');
}

async function list(folder: string, most: number): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const { name } of await opendir(folder)) {
    if (counts(name)) names.add(name);
    if (names.size > most) throw new Error(`the folder ${folder} has more than ${most} entries`);
  }
  return names;
}

/** Calls `act` with each name, some at a time. */
async function each(names: Iterable<string>, act: (name: string) => Promise<void>): Promise<void> {
  const rest = names[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function read(path: string, { largest, keeps }: TreeLimits): Promise<TreeFile> {
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  const flaw = await eachPiece(path, largest, (piece) => {
    hash.update(piece);
    if (keeps) pieces.push(piece);
  });
  if (flaw?.isShort === true) throw new Error(flaw.reason);
  if (flaw !== undefined) return { digest: '', bytes: undefined, flaw: flaw.reason };
  return {
    digest: hash.digest('hex'),
    bytes: keeps ? Buffer.concat(pieces) : undefined,
    flaw: undefined,
  };
}
