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
  type SchedulerLike,
  startWith,
  switchMap,
  takeUntil,
} from 'rxjs';
import { entriesOf, type PathEvent } from '../../../streams/watch-folders.ts';
import { watchFiles } from '../../../streams/watch-files.ts';
import type { Places } from './folder-tree.ts';

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
