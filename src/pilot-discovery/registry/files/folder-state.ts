import { changedKeys, SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { Flaw } from '../../istio/documents/model.ts';
import { type FolderTree, unknownTree } from './folder-tree.ts';
import type { FileContent } from './file-content.ts';
import { type FileEdit, noWinners, type Winners, withFiles } from './winners.ts';

/** One reading of a file. `file` is undefined if the file is gone. */
export interface FileReading {
  readonly digest: string;
  readonly file: FileContent | undefined;
  /** Whether it removes something or has an error: the file may be only half written. */
  readonly isDoubtful: boolean;
}

interface PendingReading extends FileReading {
  /** When the file was first read with this digest, in ms. */
  readonly since: number;
  /** When the file was first read with any content that is not accepted yet, in ms. */
  readonly first: number;
}

/** The result of a look at a folder. */
export type Looked =
  | { readonly type: 'lost'; readonly tree: FolderTree; readonly reason: string }
  | {
      readonly type: 'read';
      readonly tree: FolderTree;
      /**
       * The readings of the files that were looked at; undefined for a file that has not changed.
       */
      readonly readings: ReadonlyMap<string, FileReading | undefined>;
      /**
       * Why folders in it cannot be listed, by path; undefined if only some entries were looked at.
       */
      readonly unlisted: ReadonlyMap<string, string> | undefined;
      /** In ms. */
      readonly now: number;
    };

/** The state of a folder. Immutable. */
export interface FolderState {
  readonly tree: FolderTree;
  /** The accepted files, by path. */
  readonly files: SortedMap<FileContent>;
  /** Readings that are not accepted yet, by path. */
  readonly pendingReadings: ReadonlyMap<string, PendingReading>;
  /** The paths of files that exist but cannot be read. */
  readonly unreadable: ReadonlySet<string>;
  readonly unlisted: ReadonlyMap<string, string>;
  readonly winners: Winners;
  /** The flaws in the last event. */
  readonly flaws: readonly Flaw[];
  readonly isSynced: boolean;
  /** Why the folder cannot be read; undefined if it can. */
  readonly lost: string | undefined;
  /** How long a doubtful reading must last before it is accepted, in ms. */
  readonly settle: number;
}

/** Doubtful readings are accepted if no new one has come for this time, in ms. */
const settle = { usual: 20, afterLoss: 1_000 };
/** A doubtful reading is accepted after this time even if it changed each time, in ms. */
const longest = 2_000;
/** The pause before unreadable files and folders are tried again, in ms. */
const retry = 1_000;
/** The longest pause before a lost folder is looked at again, in ms. */
const longestRetry = 60_000;

/** A folder before its first look. */
export const unknownFolder: FolderState = {
  tree: unknownTree,
  files: SortedMap.empty(),
  pendingReadings: new Map(),
  unreadable: new Set(),
  unlisted: new Map(),
  winners: noWinners,
  flaws: [],
  isSynced: false,
  lost: undefined,
  settle: settle.usual,
};

/**
 * Returns how long until the next look, in ms; undefined if none is needed. If the folder is lost,
 * looks take a tenth of the time at most: it may have too many files. Pure.
 *
 * @param took how long the last look took, in ms
 */
export function againAfter(state: FolderState, took: number): number | undefined {
  if (state.lost !== undefined) return Math.min(Math.max(retry, 9 * took), longestRetry);
  if (state.pendingReadings.size > 0) return state.settle;
  return state.unreadable.size > 0 ? retry : undefined;
}

/**
 * Returns the state of a folder after a look, and the events. Its cost depends on the number of
 * changes. Pure.
 *
 * @param source the name of the source
 */
export function reduceFolder(
  state: FolderState,
  looked: Looked,
  source: string,
): readonly [FolderState, readonly StoreEvent[]] {
  const { tree } = looked;
  if (looked.type === 'lost') {
    const { reason } = looked;
    const isNews = state.lost !== reason;
    return [{ ...state, tree, lost: reason }, isNews ? [{ type: 'lost', source, reason }] : []];
  }
  const files = believed(state, looked);
  const winners = withFiles(state.winners, files.edits);
  const next: FolderState = {
    ...state,
    tree,
    files: state.files.with(files.edits.map(({ path, after }) => [path, after] as const)),
    pendingReadings: files.pendingReadings,
    unreadable: files.unreadable,
    unlisted: looked.unlisted ?? state.unlisted,
    winners,
    isSynced: true,
    lost: undefined,
    settle: files.pendingReadings.size > 0 ? files.settle : settle.usual,
  };
  const flaws = flawsOf(state, next, source);
  const events: readonly StoreEvent[] = [
    ...changedEvents(state.winners, winners, source),
    ...(flaws === state.flaws ? [] : [{ type: 'flaws', source, flaws } as const]),
    ...(state.isSynced && state.lost === undefined ? [] : [{ type: 'synced', source } as const]),
  ];
  return [{ ...next, flaws }, events];
}

interface Believed extends Pick<FolderState, 'pendingReadings' | 'unreadable' | 'settle'> {
  readonly edits: readonly (FileEdit & { readonly path: string })[];
}

/** Separates the readings that are accepted from those that must last longer. */
function believed(
  state: FolderState,
  { readings, now }: Extract<Looked, { readonly type: 'read' }>,
): Believed {
  const patience = state.lost !== undefined && state.isSynced ? settle.afterLoss : state.settle;
  // The clock may be set back.
  const isWithin = (start: number, length: number) => Math.abs(now - start) < length;
  const pendingReadings = new Map(state.pendingReadings);
  const unreadable = new Set(state.unreadable);
  const edits: Believed['edits'][number][] = [];
  const sinceOf = (path: string, { digest }: FileReading): number => {
    const pendingReading = state.pendingReadings.get(path);
    return pendingReading?.digest === digest ? pendingReading.since : now;
  };
  // All doubtful readings wait for the newest one: so removals one after another are one change.
  const isQuiet = ![...readings].some(
    ([path, reading]) => reading?.isDoubtful === true && isWithin(sinceOf(path, reading), patience),
  );
  for (const [path, reading] of readings) {
    const pendingReading = pendingReadings.get(path);
    pendingReadings.delete(path);
    if (reading === undefined) continue;
    const first = pendingReading?.first ?? now;
    const since = sinceOf(path, reading);
    if (reading.isDoubtful && !isQuiet && isWithin(first, longest)) {
      pendingReadings.set(path, { ...reading, since, first });
      continue;
    }
    edits.push({ path, before: state.files.get(path), after: reading.file });
    if (reading.file?.digest === '') unreadable.add(path);
    else unreadable.delete(path);
  }
  return { pendingReadings, unreadable, settle: patience, edits };
}

function changedEvents(before: Winners, after: Winners, source: string): readonly StoreEvent[] {
  const keys = changedKeys(before.resources, after.resources);
  if (keys.length === 0) return [];
  const upserts = keys
    .map((key) => after.resources.get(key))
    .filter((resource) => resource !== undefined);
  const removes = keys.filter((key) => !after.resources.has(key));
  return [{ type: 'changed', source, upserts, removes }];
}

/** Returns the flaws after a look; the same object if they have not changed. */
function flawsOf(before: FolderState, state: FolderState, source: string): readonly Flaw[] {
  if (state.pendingReadings.size > 0) return before.flaws; // the pending files may be correct in a moment
  const isSame =
    before.pendingReadings.size === 0 &&
    before.winners.flaws === state.winners.flaws &&
    before.unlisted === state.unlisted;
  if (isSame) return before.flaws;
  const flaws = [
    ...[...state.winners.flaws.values()].flat(),
    ...[...state.unlisted].map(([path, reason]) => unlistedFlaw(source, path, reason)),
  ];
  return JSON.stringify(flaws) === JSON.stringify(before.flaws) ? before.flaws : flaws;
}

function unlistedFlaw(source: string, path: string, reason: string): Flaw {
  const origin = { source, path, line: 0 };
  return {
    key: undefined,
    origin,
    field: '',
    reason: `the folder cannot be read: ${reason}`,
    severity: 'error',
  };
}
