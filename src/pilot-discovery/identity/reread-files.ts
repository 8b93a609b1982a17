import { concatMap, type Observable, type SchedulerLike, timer } from 'rxjs';
import { repeatOn } from '../../operators/repeat-on.ts';
import { watchFiles } from '../../streams/watch-files.ts';

/** The time from a change to the reading, in ms: files are written one by one, and in pieces. */
const gather = 100;
/** The time between two readings without a change, in ms: a certificate may expire. */
const every = 60_000;

/**
 * Emits what `read` resolves to: 100 ms after the subscription, after each change of the files, and
 * each minute. Cold; never completes, errors if `read` rejects.
 */
export function rereadFiles<T>(
  paths: readonly string[],
  read: () => Promise<T>,
  scheduler: SchedulerLike,
): Observable<T> {
  return timer(gather, scheduler).pipe(
    concatMap(read),
    repeatOn(watchFiles(paths, scheduler), () => every, scheduler),
  );
}
