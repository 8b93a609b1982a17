import { watch } from 'node:fs';
import {
  asyncScheduler,
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  mergeMap,
  Observable,
  pairwise,
  retry,
  type SchedulerLike,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import { backOff } from '../../../operators/back-off.ts';
import type { PathEvent } from '../../../streams/watch-folders.ts';
import { watchFiles } from '../../../streams/watch-files.ts';
import type { Places } from './folder-tree.ts';

/** Before a folder that could not be watched is tried again, in ms. */
const pauses = { first: 1_000, longest: 30_000 };

/**
 * Emits what may have changed in folders and of what links lead to, as long as they are among the
 * places, and once when each folder is watched. Never errors; completes with the places.
 */
export function watchPlaces(
  places$: Observable<Places>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<PathEvent> {
  return places$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(
          startWith<Places>({ folders: new Map(), links: [] }),
          pairwise(),
          mergeMap(([before, { folders }]) =>
            [...folders].filter(([path, identity]) => before.folders.get(path) !== identity),
          ),
          mergeMap(([path, identity]) => {
            const isOver$ = shared$.pipe(filter(({ folders }) => folders.get(path) !== identity));
            return entriesOf(path, scheduler).pipe(takeUntil(isOver$));
          }),
        ),
        shared$.pipe(
          map(({ links }) => links),
          distinctUntilChanged((a, b) => a.join('\n') === b.join('\n')),
          switchMap((links) => (links.length === 0 ? EMPTY : watchFiles(links, scheduler))),
          // Whatever changed before they were watched, or between two rounds of it, was not heard.
          filter(({ type }) => type === 'changed' || type === 'ready'),
          map(() => ({ folder: undefined, name: undefined })),
        ),
      ),
    ),
  );
}

function entriesOf(folder: string, scheduler: SchedulerLike): Observable<PathEvent> {
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
