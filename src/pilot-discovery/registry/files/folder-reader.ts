import { readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { TakenEntries } from '../../../streams/changed-entries.ts';
import type { FolderState, Looked, FileReading } from './folder-state.ts';
import { lookAtTree } from './folder-tree.ts';
import {
  digestOf,
  isWorse,
  readKnownFile,
  type ReadResources,
  unreadableFile,
} from './known-file.ts';

export interface FolderReaderOptions {
  /** The name of the source. */
  readonly source: string;
  readonly read: ReadResources;
  readonly defaultNamespace: string;
  /** Returns the time, in ms. */
  readonly now: () => number;
}

/** The largest file that is read, in bytes. */
export const largestFile = 64 << 20;

/**
 * Looks at a folder, in steps. Reads the files that may have changed, the files whose last reading
 * is held, and the files that could not be read.
 */
export function* lookAtFolder(
  folder: string,
  state: FolderState,
  taken: TakenEntries,
  options: FolderReaderOptions,
): Generator<undefined, Looked, undefined> {
  const { tree, seen } = yield* lookAtTree(folder, state.tree, taken);
  if (seen.lost !== undefined)
    return { type: 'lost', tree, reason: `the folder ${folder} cannot be read: ${seen.lost}` };
  const readings = new Map<string, FileReading | undefined>();
  const paths = [...seen.changed, ...seen.gone, ...state.held.keys(), ...state.unreadable];
  for (const path of new Set(paths))
    readings.set(path, yield* readingOf(path, state, tree.files.has(path), options));
  return { type: 'read', tree, readings, unlisted: seen.unlisted, now: options.now() };
}

/** Returns the reading of a file; undefined if the file has not changed. */
function* readingOf(
  path: string,
  { files, held, isSynced }: FolderState,
  isThere: boolean,
  { source, read, defaultNamespace }: FolderReaderOptions,
): Generator<undefined, FileReading | undefined, undefined> {
  const place = { source, path, defaultNamespace };
  const before = files.get(path);
  const found = isThere ? readOutsideSync(path, largestFile) : undefined;
  if (found === undefined || found.kind === 'absent')
    return before && { digest: 'absent', file: undefined, isDoubtful: true };
  if (found.kind === 'unreadable') {
    if (before?.digest === '') return undefined;
    return { digest: '', file: unreadableFile(before, place, found.reason), isDoubtful: true };
  }
  const digest = digestOf(found.bytes);
  if (before?.digest === digest) return undefined;
  const known = held.get(path);
  if (known?.digest === digest) return known;
  const file = yield* readKnownFile(before, found.bytes, digest, place, read);
  return { digest, file, isDoubtful: isSynced && isWorse(before, file) };
}
