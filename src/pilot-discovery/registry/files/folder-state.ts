import { changedKeys, SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { Flaw } from '../../istio/model.ts';
import { type FolderTree, unknownTree } from './folder-tree.ts';
import type { KnownFile } from './known-file.ts';
import { type FileEdit, noWinners, type Winners, withFiles } from './winners.ts';

/** What a file has become, as far as can be told; no file where there is none any more. */
export interface FileReading {
  readonly digest: string;
  readonly file: KnownFile | undefined;
  /** It takes something away, or is bad: it may be half of what somebody writes. */
  readonly isDoubtful: boolean;
}

interface Held extends FileReading {
  /** Since when it is so, and since when the file is not what it was. */
  readonly since: number;
  readonly first: number;
}

/** What a look at a folder has found. */
export type Looked =
  | { readonly type: 'lost'; readonly tree: FolderTree; readonly reason: string }
  | {
      readonly type: 'read';
      readonly tree: FolderTree;
      /** Of each file that was looked at; undefined where it is what it was. */
      readonly readings: ReadonlyMap<string, FileReading | undefined>;
      /** Why folders in it cannot be listed, by path; undefined if not all was looked at. */
      readonly unlisted: ReadonlyMap<string, string> | undefined;
      /** In ms. */
      readonly now: number;
    };

/** What is known of a folder. Immutable. */
export interface FolderState {
  readonly tree: FolderTree;
  /** By path, as they are believed. */
  readonly files: SortedMap<KnownFile>;
  /** Of files whose last reading is not believed yet. */
  readonly held: ReadonlyMap<string, Held>;
  /** Paths of files that are there and cannot be read. */
  readonly unreadable: ReadonlySet<string>;
  readonly unlisted: ReadonlyMap<string, string>;
  readonly winners: Winners;
  /** As they were told. */
  readonly flaws: readonly Flaw[];
  readonly isSynced: boolean;
  /** Why the folder cannot be read; undefined if it can. */
  readonly lost: string | undefined;
  /** How long what takes something away has to be so before it is believed, in ms. */
  readonly settle: number;
}

/** Readings that take something away are believed if none has come for so many ms. */
const settle = { usual: 20, afterLoss: 1_000 };
/** And after so many, if it is something else each time. In ms. */
const longest = 2_000;
/** What cannot be read is tried again after so many ms. */
const retry = 1_000;

/** Of a folder that nobody has looked at. */
export const unknownFolder: FolderState = {
  tree: unknownTree,
  files: SortedMap.empty(),
  held: new Map(),
  unreadable: new Set(),
  unlisted: new Map(),
  winners: noWinners,
  flaws: [],
  isSynced: false,
  lost: undefined,
  settle: settle.usual,
};

/** So many ms later it is looked at again; undefined where nothing has to be. Pure. */
export function againAfter(state: FolderState): number | undefined {
  if (state.lost !== undefined) return retry;
  if (state.held.size > 0) return state.settle;
  return state.unreadable.size > 0 ? retry : undefined;
}

/**
 * What is known of a folder after a look, and what has become of it. Costs what has changed. Pure.
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
    held: files.held,
    unreadable: files.unreadable,
    unlisted: looked.unlisted ?? state.unlisted,
    winners,
    isSynced: true,
    lost: undefined,
    settle: files.held.size > 0 ? files.settle : settle.usual,
  };
  const flaws = flawsOf(state, next, source);
  const events: readonly StoreEvent[] = [
    ...changedEvents(state.winners, winners, source),
    ...(flaws === state.flaws ? [] : [{ type: 'flaws', source, flaws } as const]),
    ...(state.isSynced && state.lost === undefined ? [] : [{ type: 'synced', source } as const]),
  ];
  return [{ ...next, flaws }, events];
}

interface Believed extends Pick<FolderState, 'held' | 'unreadable' | 'settle'> {
  readonly edits: readonly (FileEdit & { readonly path: string })[];
}

/** Tells readings that are believed from those that have to last first. */
function believed(
  state: FolderState,
  { readings, now }: Extract<Looked, { readonly type: 'read' }>,
): Believed {
  const patience = state.lost !== undefined && state.isSynced ? settle.afterLoss : state.settle;
  // A clock may be put back
  const isWithin = (start: number, length: number) => Math.abs(now - start) < length;
  const held = new Map(state.held);
  const unreadable = new Set(state.unreadable);
  const edits: Believed['edits'][number][] = [];
  const sinceOf = (path: string, { digest }: FileReading): number => {
    const known = state.held.get(path);
    return known?.digest === digest ? known.since : now;
  };
  // Files that are removed one after the other are one removal.
  const isQuiet = ![...readings].some(
    ([path, reading]) => reading?.isDoubtful === true && isWithin(sinceOf(path, reading), patience),
  );
  for (const [path, reading] of readings) {
    const known = held.get(path);
    held.delete(path);
    if (reading === undefined) continue;
    const first = known?.first ?? now;
    const since = sinceOf(path, reading);
    if (reading.isDoubtful && !isQuiet && isWithin(first, longest)) {
      held.set(path, { ...reading, since, first });
      continue;
    }
    edits.push({ path, before: state.files.get(path), after: reading.file });
    if (reading.file?.digest === '') unreadable.add(path);
    else unreadable.delete(path);
  }
  return { held, unreadable, settle: patience, edits };
}

function changedEvents(before: Winners, after: Winners, source: string): readonly StoreEvent[] {
  const keys = changedKeys(before.resources, after.resources);
  if (keys.length === 0) return [];
  const upserts = keys.map((key) => after.resources.get(key)).filter((one) => one !== undefined);
  const removes = keys.filter((key) => !after.resources.has(key));
  return [{ type: 'changed', source, upserts, removes }];
}

/** The flaws that are told by now: the same object as before where nothing differs. */
function flawsOf(before: FolderState, state: FolderState, source: string): readonly Flaw[] {
  if (state.held.size > 0) return before.flaws; // what is wrong may be right in a moment
  const isSame =
    before.held.size === 0 &&
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
