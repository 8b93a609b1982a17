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
/** The pause between a change and the look at it, in ms. */
const gather = 5;
/** The time between two looks if no change was reported, in ms. */
const every = 60_000;

/**
 * Emits the MeshConfig of a file: `first`, then `synced`, then each new version. If the file is
 * wrong, cannot be read or is gone, the last MeshConfig stays and an event has the reason. A file
 * that never existed is not reported.
 *
 * Cold; never completes, never errors.
 */
export function meshSource(
  path: string,
  first: MeshConfig,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<StoreEvent> {
  return defer(() => {
    let isKnown = false; // the file has existed
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
