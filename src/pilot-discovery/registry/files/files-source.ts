import { resolve } from 'node:path';
import {
  asyncScheduler,
  catchError,
  defer,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  Subject,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import { inSlices } from '../../../operators/in-slices.ts';
import { repeatOn } from '../../../operators/repeat-on.ts';
import { changedEntries } from '../../../streams/changed-entries.ts';
import { watchFolders } from '../../../streams/watch-folders.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { folderReader } from './folder-reader.ts';
import type { Places } from './folder-tree.ts';
import type { ReadResources } from './known-file.ts';
import { watchPlaces } from './watch-places.ts';

export interface FilesSourceOptions {
  /** What makes resources of a text. */
  readonly read: ReadResources;
  /** Of the source; `files` if left out. */
  readonly name?: string;
  /** Of resources that name none; `default` if left out. */
  readonly defaultNamespace?: string;
  /** So many ms after the last time all is looked at even if nobody says that it has changed. */
  readonly every?: number;
  readonly scheduler?: SchedulerLike;
}

/** The loop is held no longer at a time, in ms. */
const slice = 8;
/** From a change to a look, in ms: longer where a look takes long, for many may change. */
const gather = { first: 5, most: 250 };
/** What looks without a change may take, of all time. */
const share = 1 / 2_000;
/** After something that should not happen. In ms. */
const failed = 1_000;

/**
 * The resources in the files `*.yaml, *.yml, *.json` of a folder and of the folders in it: what
 * there is, then `synced`, then what changes. Of the same resource in two files the first one by
 * path counts. A resource that has become bad stays as it was, one that is in no file any more is
 * removed, and if the folder cannot be read all stays until it can.
 *
 * Cold; never completes, never errors.
 */
export function filesSource(folder: string, options: FilesSourceOptions): Observable<StoreEvent> {
  const {
    read,
    name = 'files',
    defaultNamespace = 'default',
    every = 60_000,
    scheduler = asyncScheduler,
  } = options;
  const root = resolve(folder);
  return defer(() => {
    const reader = folderReader(root, {
      source: name,
      read,
      defaultNamespace,
      now: () => scheduler.now(),
    });
    const changed = changedEntries();
    const seen$ = new Subject<Places>();
    let again: number | undefined; // what is held is to be looked at, and nothing else
    let [took, pause] = [0, every];

    const look$ = defer(() => {
      const begun = scheduler.now();
      if (again !== undefined) changed.add({ folder: root, name: '.' });
      return inSlices(() => reader.look(changed.take()), slice, scheduler).pipe(
        tap((look) => {
          took = scheduler.now() - begun;
          again = look.again;
          pause = again ?? Math.max(every, took / share);
          seen$.next(look.places);
        }),
      );
    });
    const events$ = defer(() =>
      timer(Math.min(Math.max(gather.first, took), gather.most), scheduler),
    ).pipe(
      switchMap(() => look$),
      mergeMap(({ events }) => events),
      catchError((error: unknown) => {
        changed.add({ folder: root, name: undefined });
        pause = failed;
        return of<StoreEvent>({ type: 'lost', source: name, reason: String(error) });
      }),
    );
    const change$ = merge(
      seen$.pipe(
        take(1),
        switchMap(() => watchFolders([root], scheduler)),
      ),
      watchPlaces(seen$, scheduler),
    ).pipe(
      map((event) => (event.folder === undefined ? { folder: root, name: undefined } : event)),
      filter((event) => changed.add(event)),
    );
    return events$.pipe(repeatOn(change$, () => pause, scheduler));
  });
}
