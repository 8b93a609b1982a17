import type { AnyResource, Flaw, ResourceKey } from '../../istio/model.ts';
import { readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { TakenEntries } from '../../../streams/changed-entries.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { folderTree, type Places, type Seen } from './folder-tree.ts';
import {
  digestOf,
  isWorse,
  type KnownFile,
  readKnownFile,
  type ReadResources,
  unreadableFile,
} from './known-file.ts';
import { winnersOf } from './winners.ts';

/** What a look at a folder has found. */
export interface Look {
  readonly events: readonly StoreEvent[];
  readonly places: Places;
  /** In ms; undefined where nothing has to be looked at again. */
  readonly again: number | undefined;
}

export interface FolderReaderOptions {
  readonly source: string;
  readonly read: ReadResources;
  readonly defaultNamespace: string;
  /** The time, in ms. */
  readonly now: () => number;
}

/** Of a file, in bytes. */
const largest = 64 << 20;
/** What takes something away is believed if it is still so after so many ms. */
const settle = { usual: 20, afterLoss: 1_000 };
/** And after so many, if it is something else each time. In ms. */
const longest = 2_000;
/** What cannot be read is tried again after so many ms. */
const retry = 1_000;

/** What a file has become, as far as can be told; no file where there is none any more. */
interface Reading {
  readonly digest: string;
  readonly file: KnownFile | undefined;
  /** It takes something away, or is bad: it may be half of what somebody writes. */
  readonly isDoubtful: boolean;
}

interface Held extends Reading {
  /** Since when it is so, and since when the file is not what it was. */
  readonly since: number;
  readonly first: number;
}

/**
 * Reads a folder again and again, in steps, and tells what has become of it since the look before.
 * A file that is there no more, has lost something, or has become bad is read a second time before
 * that is believed: somebody may be writing it.
 */
export function folderReader(
  folder: string,
  { source, read, defaultNamespace, now }: FolderReaderOptions,
) {
  const tree = folderTree(folder);
  const files = new Map<string, KnownFile>();
  const held = new Map<string, Held>();
  let told: ReadonlyMap<ResourceKey, AnyResource> = new Map();
  let toldFlaws: readonly Flaw[] = [];
  let unlisted: ReadonlyMap<string, string> = new Map();
  let lost: string | undefined;
  let [isFirst, pause] = [true, settle.usual];

  /** Undefined where the file is what it was. */
  function* readingOf(path: string): Generator<undefined, Reading | undefined, undefined> {
    const place = { source, path, defaultNamespace };
    const before = files.get(path);
    const found = tree.has(path) ? readOutsideSync(path, largest) : undefined;
    if (found === undefined || found.kind === 'absent')
      return before && { digest: 'absent', file: undefined, isDoubtful: true };
    if (found.kind === 'unreadable' && before?.digest === '') return undefined;
    if (found.kind === 'unreadable')
      return { digest: '', file: unreadableFile(before, place, found.reason), isDoubtful: true };
    const digest = digestOf(found.bytes);
    if (before?.digest === digest) return undefined;
    const known = held.get(path);
    if (known?.digest === digest) return known;
    const file = yield* readKnownFile(before, found.bytes, digest, place, read);
    return { digest, file, isDoubtful: !isFirst && isWorse(before, file) };
  }

  const heed = (path: string, reading: Reading | undefined): void => {
    const known = held.get(path);
    held.delete(path);
    if (reading === undefined) return;
    const first = known?.first ?? now();
    const since = known?.digest === reading.digest ? known.since : now();
    if (reading.isDoubtful && isWithin(since, pause) && isWithin(first, longest))
      held.set(path, { ...reading, since, first });
    else if (reading.file === undefined) files.delete(path);
    else files.set(path, reading.file);
  };
  // A clock may be put back
  const isWithin = (start: number, length: number) => Math.abs(now() - start) < length;

  const unreadable = () =>
    [...files.values()].filter(({ digest }) => digest === '').map(({ path }) => path);

  const changedEvents = (): readonly StoreEvent[] => {
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
    const { resources, flaws } = winnersOf(sorted, told);
    const upserts = [...resources]
      .filter(([key, resource]) => told.get(key) !== resource)
      .map(([, resource]) => resource);
    const removes = [...told.keys()].filter((key) => !resources.has(key));
    const isTold = upserts.length > 0 || removes.length > 0;
    const events: StoreEvent[] = isTold ? [{ type: 'changed', source, upserts, removes }] : [];
    told = resources;
    if (held.size > 0) return events; // what is wrong may be right in a moment
    const all = [
      ...flaws,
      ...[...unlisted].map(([path, reason]) => unlistedFlaw(source, path, reason)),
    ];
    if (JSON.stringify(all) !== JSON.stringify(toldFlaws))
      events.push({ type: 'flaws', source, flaws: all });
    toldFlaws = all;
    return events;
  };

  const lostEvents = (reason: string): readonly StoreEvent[] => {
    const isNews = lost !== reason;
    lost = reason;
    return isNews
      ? [{ type: 'lost', source, reason: `the folder ${folder} cannot be read: ${reason}` }]
      : [];
  };

  function* take(seen: Seen): Generator<undefined, readonly StoreEvent[], undefined> {
    for (const path of new Set([...seen.changed, ...seen.gone, ...held.keys(), ...unreadable()]))
      heed(path, yield* readingOf(path));
    const events = [...changedEvents()];
    if (isFirst || lost !== undefined) events.push({ type: 'synced', source });
    [isFirst, lost] = [false, undefined];
    return events;
  }

  return {
    *look(taken: TakenEntries): Generator<undefined, Look, undefined> {
      const seen = yield* tree.look(taken);
      if (seen.lost !== undefined)
        return { events: lostEvents(seen.lost), places: tree.places(), again: retry };
      if (lost !== undefined && !isFirst) pause = settle.afterLoss;
      unlisted = seen.unlisted ?? unlisted;
      const events = yield* take(seen);
      if (held.size > 0) return { events, places: tree.places(), again: pause };
      pause = settle.usual;
      return { events, places: tree.places(), again: unreadable().length > 0 ? retry : undefined };
    },
  };
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
