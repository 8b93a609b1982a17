import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { eachPiece } from '../../shared/files/outside-file.ts';
import type { TakenEntries } from '../../streams/changed-entries.ts';
import { identityOf } from '../../streams/link-hops.ts';

/** A file as it was read last. */
export interface SeenFile {
  /** sha256, hex; '' where it could not be read. */
  readonly digest: string;
  /** What is in it, where that is kept. */
  readonly bytes: Buffer | undefined;
  /** Why it could not be read. */
  readonly flaw: string | undefined;
}

/** What one path leads to. */
export interface SeenPath {
  readonly path: string;
  readonly isFolder: boolean;
  /** By name: that of each file of a folder; '' for a file itself. */
  readonly files: ReadonlyMap<string, SeenFile>;
}

export interface TreeLimits {
  /** Of a file, in bytes. */
  readonly largest: number;
  /** Whether the bytes of files are kept, or only their digests. */
  readonly keeps: boolean;
}

/** Of entries of a folder: where the bytes are kept, and else. */
const most = { kept: 1_000, hashed: 100_000 };
/** How many files are looked at at a time. */
const atOnce = 16;

interface Known extends SeenFile {
  readonly state: string;
}

export interface FileTree {
  readonly look: (changed: TakenEntries) => Promise<readonly SeenPath[]>;
}

/**
 * What there is at paths: files, and the files of folders, but not what is in folders of these.
 * Entries whose names begin with a dot do not count: they are those of Kubernetes and of editors.
 *
 * `look` reads what is new to it: a file that it does not know, one that is not what it was (by
 * inode, size and times), and one that is said to have changed. No other is read. Rejects where
 * the system is short of something, or a folder has too many entries.
 */
export function fileTree(paths: readonly string[], limits: TreeLimits): FileTree {
  const folders = new Map<string, string>(); // the identity of each that was listed
  const known = new Map<string, Map<string, Known>>(paths.map((path) => [path, new Map()]));

  async function look(path: string, changed: TakenEntries): Promise<SeenPath> {
    const files = known.get(path) ?? new Map<string, Known>();
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
    files: Map<string, Known>,
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

/** Names what is in a file, as far as can be told without reading it. */
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

/** Does the same with each, some at a time. */
async function each(names: Iterable<string>, act: (name: string) => Promise<void>): Promise<void> {
  const rest = names[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function read(path: string, { largest, keeps }: TreeLimits): Promise<SeenFile> {
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
