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
import { lookPause } from '../../../streams/look-pause.ts';
import { watchPlaces } from '../../../streams/watch-folders.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { lookAtFolder } from './folder-reader.ts';
import { againAfter, type FolderState, reduceFolder, unknownFolder } from './folder-state.ts';
import type { WriteBody } from '../../istio/documents/model.ts';
import type { ReadResources } from './file-content.ts';

export interface FilesSourceOptions {
  /** Reads resources from a text. */
  readonly read: ReadResources;
  /** The name of the source; `files` if left out. */
  readonly name?: string;
  /** The namespace of resources that name none; `default` if left out. */
  readonly defaultNamespace?: string;
  /** Left out if no other control plane may read the resources. */
  readonly writeBody?: WriteBody;
  /** The time from a look to the next look at everything, if no change is reported. In ms. */
  readonly every?: number;
  readonly scheduler?: SchedulerLike;
}

/** The longest time for which a look blocks the event loop, in ms. */
const slice = 8;
/**
 * The pause between a change and the next look, in ms. It is longer if looks take long, because
 * many files may change.
 */
const gather = { first: 5, most: 250 };
/** The pause after an error that should not happen, in ms. */
const failed = 1_000;

/** The state after a look, and its events. */
interface Step {
  readonly state: FolderState;
  readonly events: readonly StoreEvent[];
  /** How long the look took, in ms. */
  readonly took: number;
  /**
   * After this time, the pending and unreadable files are looked at again, and nothing else. In ms;
   * undefined if there are none.
   */
  readonly again: number | undefined;
}

/**
 * Emits the resources in the files `*.yaml, *.yml, *.json` of a folder and of the folders in it:
 * all that exist, then `synced`, then the changes. If two files have the same resource, the first
 * path counts. A resource that becomes bad keeps its last good version. A resource that no file has
 * is removed. If the folder cannot be read, all resources stay until it can.
 *
 * Cold; never completes, never errors.
 */
export function filesSource(folder: string, options: FilesSourceOptions): Observable<StoreEvent> {
  const {
    read,
    name = 'files',
    defaultNamespace = 'default',
    writeBody,
    every = 60_000,
    scheduler = asyncScheduler,
  } = options;
  const root = resolve(folder);
  const readerOptions = {
    ...{ source: name, read, defaultNamespace, writeBody },
    now: () => scheduler.now(),
  };
  return defer(() => {
    const changed = changedEntries();
    const first: Step = { state: unknownFolder, events: [], took: 0, again: undefined };
    const steps$ = feedback<Step, Step>(
      first,
      (_, step) => step,
      (step$) => {
        const look$ = ({ state, again }: Step) => {
          const begun = scheduler.now();
          // If no entry were marked, `take` would return all of them.
          if (again !== undefined) changed.add({ folder: root, name: '.' });
          return inSlices(
            () => lookAtFolder(root, state, changed.take(), readerOptions),
            slice,
            scheduler,
          ).pipe(
            map((looked): Step => {
              const [next, events] = reduceFolder(state, looked, name);
              const took = scheduler.now() - begun;
              return { state: next, events, took, again: againAfter(next, took) };
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
        const pause = ({ took, again }: Step = first) => again ?? lookPause(every, took);
        return next$.pipe(repeatOn(change$, pause, scheduler));
      },
    );
    return steps$.pipe(mergeMap(({ value }) => value.events));
  });
}
