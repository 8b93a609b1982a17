import { stat } from 'node:fs/promises';
import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  EMPTY,
  forkJoin,
  map,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { skip, startWith, takeUntil, timer } from 'rxjs';
import { pollUntil } from '../operators/poll-until.ts';
import { settle } from '../operators/settle.ts';

/**
 * The result of a look at a path. `barred`: the result cannot be known, and waiting does not help.
 */
export type FileSign = 'there' | 'absent' | 'barred';

export interface FileSystem {
  /** Looks once, on subscribe; emits the result, and completes. Never errors. */
  look(path: string): Observable<FileSign>;
}

export interface WaitOptions {
  /** The limit for all files together, in ms. */
  readonly limit?: number;
  /** The time from one look to the next, in ms. */
  readonly poll?: number;
  readonly files?: FileSystem;
}

const realFiles: FileSystem = {
  look: (path) =>
    defer(() => stat(path)).pipe(
      settle(),
      map((result) =>
        result.ok
          ? 'there'
          : (result.error as NodeJS.ErrnoException).code === 'ENOENT'
            ? 'absent'
            : 'barred',
      ),
    ),
};

/**
 * Emits the list of missing files each time it changes. Completes when there are none left to wait
 * for, or after `limit` ms (2 minutes): then the files emitted last are still missing. If
 * nothing was ever missing, nothing is emitted.
 *
 * The files are awaited side by side, each until it exists, whatever its content. A file that
 * cannot be looked for counts as missing, but is not awaited. Empty and repeated paths are dropped.
 * Cold, never errors.
 */
export function waitForFiles(
  paths: readonly string[],
  { limit = 120_000, poll = 100, files = realFiles }: WaitOptions = {},
  scheduler: SchedulerLike = asyncScheduler,
): Observable<readonly string[]> {
  const wanted = [...new Set(paths)].filter((path) => path !== '');
  if (wanted.length === 0) return EMPTY;
  return defer(() => forkJoin(wanted.map((path) => files.look(path)))).pipe(
    pollUntil((signs) => !signs.includes('absent'), { every: poll }, scheduler),
    map((signs) => wanted.filter((_, index) => signs[index] !== 'there')),
    startWith([]),
    distinctUntilChanged((before, after) => before.join('\0') === after.join('\0')),
    skip(1),
    takeUntil(timer(limit, scheduler)),
  );
}
