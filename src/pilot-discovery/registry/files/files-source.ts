import { resolve } from 'node:path';
import {
  asyncScheduler,
  catchError,
  defer,
  delayWhen,
  filter,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { feedback } from '../../../operators/feedback.ts';
import { inSlices } from '../../../operators/in-slices.ts';
import { repeatOn } from '../../../operators/repeat-on.ts';
import { changedEntries } from '../../../streams/changed-entries.ts';
import { watchPlaces } from '../../../streams/watch-folders.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { lookAtFolder } from './folder-reader.ts';
import { againAfter, type FolderState, reduceFolder, unknownFolder } from './folder-state.ts';
import type { ReadResources } from './known-file.ts';

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

/** What is known after a look, and what has come of it. */
interface Step {
  readonly state: FolderState;
  readonly events: readonly StoreEvent[];
  /** How long the look took, in ms. */
  readonly took: number;
  /**
   * So many ms later what is held is looked at, and nothing else; undefined where none is held.
   */
  readonly again: number | undefined;
}

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
  const readerOptions = { source: name, read, defaultNamespace, now: () => scheduler.now() };
  return defer(() => {
    const changed = changedEntries();
    const first: Step = { state: unknownFolder, events: [], took: 0, again: undefined };
    const steps$ = feedback<Step, Step>(
      first,
      (_, step) => step,
      (step$) => {
        const look$ = ({ state, again }: Step) => {
          const begun = scheduler.now();
          if (again !== undefined) changed.add({ folder: root, name: '.' }); // and nothing else
          return inSlices(
            () => lookAtFolder(root, state, changed.take(), readerOptions),
            slice,
            scheduler,
          ).pipe(
            map((looked): Step => {
              const [next, events] = reduceFolder(state, looked, name);
              const took = scheduler.now() - begun;
              return { state: next, events, took, again: againAfter(next) };
            }),
          );
        };
        const next$ = step$.pipe(
          take(1),
          delayWhen(({ took }) =>
            timer(Math.min(Math.max(gather.first, took), gather.most), scheduler),
          ),
          switchMap((step) =>
            look$(step).pipe(
              catchError((error: unknown) => {
                changed.add({ folder: root, name: undefined });
                const lost = { type: 'lost', source: name, reason: String(error) } as const;
                return of<Step>({ ...step, events: [lost], again: failed });
              }),
            ),
          ),
        );
        const change$ = watchPlaces(step$.pipe(map(({ state }) => state.tree)), scheduler).pipe(
          map((event) => (event.folder === undefined ? { folder: root, name: undefined } : event)),
          filter((event) => changed.add(event)),
        );
        const pause = ({ took, again }: Step = first) => again ?? Math.max(every, took / share);
        return next$.pipe(repeatOn(change$, pause, scheduler));
      },
    );
    return steps$.pipe(mergeMap(({ value }) => value.events));
  });
}
