import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import {
  asyncScheduler,
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  Observable,
  retry,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { backOff } from '../operators/back-off.ts';
import { identityOf, watchFiles } from './watch-files.ts';

/** Something may have changed. */
export interface PathEvent {
  /** One of the paths, in which it is; undefined where it is on the way to one, or one itself. */
  readonly folder: string | undefined;
  /** The name of the entry in the folder, or its path; undefined where it may be any. */
  readonly name: string | undefined;
}

/** Before a folder that could not be watched is tried again, in ms. */
const pauses = { first: 1_000, longest: 30_000 };

/**
 * Emits what may have changed of files and of the entries of folders, and once when each is
 * watched, since what changed before that went unheard. Entries of folders are told by the kernel
 * one by one, and none of them is looked at. A folder that cannot be watched is tried again after 1
 * s, doubling to 30 s. Cold; never ends, never errors, does not keep the process alive.
 */
export function watchFolders(
  paths: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): Observable<PathEvent> {
  return watchFiles(paths, scheduler).pipe(
    filter(({ type }) => type !== 'watch-failed'),
    connect((onTheWay$) =>
      merge(
        onTheWay$.pipe(
          map((sign) => ({
            folder: undefined,
            name: sign.type === 'changed' ? sign.path : undefined,
          })),
        ),
        ...paths.map((path) =>
          onTheWay$.pipe(
            switchMap(() => folderIdentity(path)),
            distinctUntilChanged(),
            switchMap((identity) => (identity === undefined ? EMPTY : entriesOf(path, scheduler))),
          ),
        ),
      ),
    ),
  );
}

/** Names the folder that a path leads to; undefined where that is none. Never rejects. */
async function folderIdentity(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.isDirectory() === true ? identityOf(found) : undefined;
}

/**
 * Emits what may have changed of the entries of a folder, and once when it is watched. As
 * {@link watchFolders}.
 */
export function entriesOf(folder: string, scheduler: SchedulerLike): Observable<PathEvent> {
  return new Observable<PathEvent>((subscriber) => {
    const watcher = watch(folder, { persistent: false }, (_, name) =>
      subscriber.next({ folder, name: name ?? undefined }),
    );
    watcher.on('error', (error) => subscriber.error(error));
    subscriber.add(() => watcher.close());
    subscriber.next({ folder, name: undefined });
  }).pipe(
    retry({
      delay: (_, count) => timer(backOff(pauses, count - 1), scheduler),
      resetOnSuccess: true,
    }),
  );
}
