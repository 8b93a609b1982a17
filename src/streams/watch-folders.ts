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

/** Something may have changed. */
export interface PathEvent {
  /** The folder that it is in; undefined where it is on the way to a path, or one itself. */
  readonly folder: string | undefined;
  /** The name of the entry in the folder, or its path; undefined where it may be any. */
  readonly name: string | undefined;
}

/** What is watched. */
export interface Places {
  /** Folders whose entries are watched: path → identity. Another identity is another folder. */
  readonly folders: ReadonlyMap<string, string>;
  /** Files, links and folders that are watched themselves, with what is on the way to them. */
  readonly paths: readonly string[];
}

/** Before a folder that could not be watched is tried again, in ms. */
const pauses = { first: 1_000, longest: 30_000 };

/**
 * Emits what may have changed at places, as long as they are among them, and once when each is
 * watched, since what changed before that went unheard. Entries of folders are told by the kernel
 * one by one, and none of them is looked at. A folder that cannot be watched is tried again after 1
 * s, doubling to 30 s. Cold; never errors, does not keep the process alive. Completes with the
 * places.
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
 * The same of paths that lead to files and to folders, whatever they are by now. Never completes.
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

/** The paths that lead to folders, and the identities of these. Never rejects. */
async function foldersAt(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path, { bigint: true }).catch(() => undefined);
      return stats?.isDirectory() === true ? ([path, identityOf(stats)] as const) : undefined;
    }),
  );
  return new Map(found.filter((one) => one !== undefined));
}

/** Watches each folder as long as it is the one that it was. */
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
