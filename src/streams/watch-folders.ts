// Why: docs/decisions/028-the-kernel-names-the-entries.md
import { stat } from 'node:fs/promises';
import {
  asyncScheduler,
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  pairwise,
  retry,
  type SchedulerLike,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import { backOff } from '../operators/back-off.ts';
import { entryNames } from './entry-names.ts';
import { identityOf } from './link-hops.ts';
import { watchFiles } from './watch-files.ts';

/** A path or an entry that may have changed. */
export interface PathEvent {
  /**
   * The folder of the entry; undefined if a watched path itself, or an entry on the way to it, may
   * have changed.
   */
  readonly folder: string | undefined;
  /** The name of the entry in the folder, or its path; undefined if it may be any. */
  readonly name: string | undefined;
}

/** The folders and paths to watch. */
export interface Places {
  /** Folders whose entries are watched: path → identity. Another identity is another folder. */
  readonly folders: ReadonlyMap<string, string>;
  /** Paths that are watched themselves, with the entries on the way to their targets. */
  readonly paths: readonly string[];
}

/** The pauses before another try to watch a folder, in ms. */
const pauses = { first: 1_000, longest: 30_000 };

/**
 * Emits each possible change at the newest of `places$`. Emits once when each place is watched,
 * because earlier changes were missed. The kernel reports the entries of folders one by one, and no
 * entry is looked at. A folder that cannot be watched is tried again after 1 s, doubling to 30 s.
 * Cold; never errors, does not keep the process alive. Completes after `places$` if its last value
 * has no places.
 */
export function watchPlaces(
  places$: Observable<Places>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<PathEvent> {
  return places$.pipe(
    connect((shared$) =>
      merge(
        entriesOfEach(shared$.pipe(map(({ folders }) => folders)), scheduler),
        shared$.pipe(
          map(({ paths }) => paths),
          distinctUntilChanged((a, b) => a.join('\n') === b.join('\n')),
          switchMap((paths) => (paths.length === 0 ? EMPTY : onTheWay(paths, scheduler))),
        ),
      ),
    ),
  );
}

/**
 * Does what `watchPlaces` does for paths that lead to files or folders. A file may become a folder,
 * and a folder a file. Never completes.
 */
export function watchFolders(
  paths: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): Observable<PathEvent> {
  return onTheWay(paths, scheduler).pipe(
    connect((onTheWay$) =>
      merge(onTheWay$, entriesOfEach(onTheWay$.pipe(switchMap(() => foldersAt(paths))), scheduler)),
    ),
  );
}

function onTheWay(paths: readonly string[], scheduler: SchedulerLike): Observable<PathEvent> {
  return watchFiles(paths, scheduler).pipe(
    filter(({ type }) => type !== 'watch-failed'),
    map((sign) => ({ folder: undefined, name: sign.type === 'changed' ? sign.path : undefined })),
  );
}

/** Returns the paths that lead to folders, with the identities of the folders. Never rejects. */
async function foldersAt(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const folders = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path, { bigint: true }).catch(() => undefined);
      return stats?.isDirectory() === true ? ([path, identityOf(stats)] as const) : undefined;
    }),
  );
  return new Map(folders.filter((folder) => folder !== undefined));
}

/** Watches each folder until another one replaces it. */
function entriesOfEach(
  folders$: Observable<ReadonlyMap<string, string>>,
  scheduler: SchedulerLike,
): Observable<PathEvent> {
  return folders$.pipe(
    distinctUntilChanged(),
    connect((shared$) =>
      shared$.pipe(
        startWith<ReadonlyMap<string, string>>(new Map()),
        pairwise(),
        mergeMap(([before, folders]) =>
          [...folders].filter(([path, identity]) => before.get(path) !== identity),
        ),
        mergeMap(([path, identity]) =>
          entriesOf(path, scheduler).pipe(
            takeUntil(shared$.pipe(filter((folders) => folders.get(path) !== identity))),
          ),
        ),
      ),
    ),
  );
}

function entriesOf(folder: string, scheduler: SchedulerLike): Observable<PathEvent> {
  return entryNames(folder).pipe(
    retry({
      delay: (_, count) => timer(backOff(pauses, count - 1), scheduler),
      resetOnSuccess: true,
    }),
    map((name) => ({ folder, name })),
  );
}
