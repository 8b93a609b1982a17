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

/** What a look at a path finds. `barred`: it cannot be known, and waiting does not help. */
export type FileSign = 'there' | 'absent' | 'barred';

export interface FileSystem {
  /** Looks once, on subscribe; emits what it finds, and completes. Never errors. */
  look(path: string): Observable<FileSign>;
}

export interface WaitOptions {
  /** For all files together, in ms. */
  readonly limit?: number;
  /** From one look to the next, in ms. */
  readonly poll?: number;
  readonly files?: FileSystem;
}

const realFiles: FileSystem = {
  look: (path) =>
    defer(() => stat(path)).pipe(
      settle(),
      map((found) =>
        found.ok
          ? 'there'
          : (found.error as NodeJS.ErrnoException).code === 'ENOENT'
            ? 'absent'
            : 'barred',
      ),
    ),
};

/**
 * Emits which of the files at `paths` are missing, whenever that changes, and completes when there
 * are none to wait for any more, or after `limit` ms (2 minutes). What was emitted last is still
 * missing then; where nothing was ever missing, nothing is emitted.
 *
 * The files are waited for side by side, each until it exists, whatever is in it. One that cannot
 * be looked for counts as missing, but is not waited for. Empty and repeated paths are dropped.
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
    distinctUntilChanged((one, other) => one.join('\0') === other.join('\0')),
    skip(1),
    takeUntil(timer(limit, scheduler)),
  );
}
