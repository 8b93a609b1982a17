import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  from,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  timer,
} from 'rxjs';
import type { MeshConfig } from '../../istio/mesh-config.ts';
import { repeatOn } from '../../../operators/repeat-on.ts';
import { watchFiles } from '../../../streams/watch-files.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { readMeshFile } from './mesh-file.ts';

/** The name of this source. */
const source = 'mesh';
/** From a change to a look, in ms. */
const gather = 5;
/** From one look to the next even if nobody says that the file has changed, in ms. */
const every = 60_000;

/**
 * The MeshConfig in a file: `first`, then `synced`, then what the file says when it has changed.
 * Where it is wrong, cannot be read, or is gone, what held before stays, and the reason is told.
 * A file that never was there is not missed.
 *
 * Cold; never completes, never errors.
 */
export function meshSource(
  path: string,
  first: MeshConfig,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<StoreEvent> {
  return defer(() => {
    let isKnown = false; // the file has been there
    const look = (): readonly StoreEvent[] => {
      const file = readMeshFile(path);
      if (file.kind === 'absent' && !isKnown) return [];
      isKnown = true;
      if (file.kind !== 'read')
        return [{ type: 'lost', source, reason: `${path}: ${file.reason}` }];
      const { mesh, flaws, error } = file;
      return [
        { type: 'flaws', source, flaws },
        ...(error === undefined ? [{ type: 'mesh', mesh } as const] : []),
        { type: 'synced', source },
      ];
    };
    const look$ = timer(gather, scheduler).pipe(
      mergeMap(() => from(look())),
      catchError((error: unknown) =>
        of<StoreEvent>({
          type: 'lost',
          source,
          reason: `${path}: this is a bug: ${String(error)}`,
        }),
      ),
    );
    const begun: readonly StoreEvent[] = [
      { type: 'mesh', mesh: first },
      { type: 'synced', source },
    ];
    return concat(
      of(...begun),
      look$.pipe(repeatOn(watchFiles([path], scheduler), () => every, scheduler)),
    );
  });
}
