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
import type { Flaw } from '../../istio/documents/model.ts';
import { repeatOn } from '../../../operators/repeat-on.ts';
import { watchFiles } from '../../../streams/watch-files.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { readSettingFile } from './setting-file.ts';

/** The pause between a change and its reading, in ms. */
const gather = 5;
/** The time between two looks if no change was reported, in ms. */
const every = 60_000;

/** The settings in a file. */
export interface SettingsInFile<T> {
  /** The name of the source. */
  readonly source: string;
  readonly path: string;
  /** The content at the start. */
  readonly first: T;
  readonly read: (text: string, path: string) => T & { readonly flaws: readonly Flaw[] };
  readonly eventOf: (content: T) => StoreEvent;
}

/**
 * Emits the settings of a file: `first`, then `synced`, then each new version. If the file is
 * wrong, cannot be read or is gone, the last settings stay and an event has the reason. A file that
 * never existed is not reported.
 *
 * Cold; never completes, never errors.
 */
export function settingSource<T>(
  { source, path, first, read, eventOf }: SettingsInFile<T>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<StoreEvent> {
  return defer(() => {
    let isKnown = false; // the file has existed
    const look = (): readonly StoreEvent[] => {
      const file = readSettingFile(path, read);
      if (file.kind === 'absent' && !isKnown) return [];
      isKnown = true;
      if (file.kind !== 'read')
        return [{ type: 'lost', source, reason: `${path}: ${file.reason}` }];
      const { content, flaws, error } = file;
      return [
        { type: 'flaws', source, flaws },
        ...(error === undefined ? [eventOf(content)] : []),
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
    const begun: readonly StoreEvent[] = [eventOf(first), { type: 'synced', source }];
    return concat(
      of(...begun),
      look$.pipe(repeatOn(watchFiles([path], scheduler), () => every, scheduler)),
    );
  });
}
