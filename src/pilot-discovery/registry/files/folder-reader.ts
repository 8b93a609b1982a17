import { readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { PossibleChanges } from '../../../streams/changed-entries.ts';
import type { FolderState, Looked, FileReading } from './folder-state.ts';
import type { WriteBody } from '../../istio/documents/model.ts';
import { lookAtTree } from './folder-tree.ts';
import {
  digestOf,
  isWorse,
  readFileContent,
  type ReadResources,
  unreadableFile,
} from './file-content.ts';

export interface FolderReaderOptions {
  /** The name of the source. */
  readonly source: string;
  readonly read: ReadResources;
  readonly defaultNamespace: string;
  readonly writeBody?: WriteBody | undefined;
  /** Returns the time, in ms. */
  readonly now: () => number;
}

/** The largest file that is read, in bytes. */
export const largestFile = 64 << 20;

/**
 * Looks at a folder, in steps. Reads the files that may have changed, the files whose last reading
 * is pending, and the files that could not be read.
 */
export function* lookAtFolder(
  folder: string,
  state: FolderState,
  changes: PossibleChanges,
  options: FolderReaderOptions,
): Generator<undefined, Looked, undefined> {
  const { tree, changes: treeChanges } = yield* lookAtTree(folder, state.tree, changes);
  if (treeChanges.lost !== undefined)
    return {
      type: 'lost',
      tree,
      reason: `the folder ${folder} cannot be read: ${treeChanges.lost}`,
    };
  const readings = new Map<string, FileReading | undefined>();
  const paths = [
    ...treeChanges.changed,
    ...treeChanges.gone,
    ...state.pendingReadings.keys(),
    ...state.unreadable,
  ];
  for (const path of new Set(paths))
    readings.set(path, yield* readingOf(path, state, tree.files.has(path), options));
  return { type: 'read', tree, readings, unlisted: treeChanges.unlisted, now: options.now() };
}

/** Returns the reading of a file; undefined if the file has not changed. */
function* readingOf(
  path: string,
  { files, pendingReadings, isSynced }: FolderState,
  isThere: boolean,
  { source, read, defaultNamespace, writeBody }: FolderReaderOptions,
): Generator<undefined, FileReading | undefined, undefined> {
  const place = { source, path, defaultNamespace, writeBody };
  const before = files.get(path);
  const outsideFile = isThere ? readOutsideSync(path, largestFile) : undefined;
  if (outsideFile === undefined || outsideFile.kind === 'absent')
    return before && { digest: 'absent', file: undefined, isDoubtful: true };
  if (outsideFile.kind === 'unreadable') {
    if (before?.digest === '') return undefined;
    return {
      digest: '',
      file: unreadableFile(before, place, outsideFile.reason),
      isDoubtful: true,
    };
  }
  const digest = digestOf(outsideFile.bytes);
  if (before?.digest === digest) return undefined;
  const pendingReading = pendingReadings.get(path);
  if (pendingReading?.digest === digest) return pendingReading;
  const file = yield* readFileContent(before, outsideFile.bytes, digest, place, read);
  return { digest, file, isDoubtful: isSynced && isWorse(before, file) };
}
