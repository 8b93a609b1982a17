import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asyncScheduler, defer, type Observable, type SchedulerLike } from 'rxjs';
import type { ConfigSource } from './config-source.ts';
import { watchFiles } from './watch-files.ts';

/**
 * The source whose configuration is the files at `paths`; empty and repeated paths are dropped. Without any it never changes.
 *
 * Cold, never ends, never errors: see `watchFiles` and `hashFiles`.
 */
export function fileSource(paths: readonly string[], scheduler: SchedulerLike = asyncScheduler): ConfigSource {
  const files = [...new Set(paths)].filter((path) => path !== '');
  return { changes$: watchFiles(files, scheduler), hash$: hashFiles(files) };
}

/** Path, length and digest; the latter are absent for what is not a readable regular file. */
type Reading = readonly [path: string, length?: number, digest?: string];

const read = async (path: string): Promise<Reading> => {
  // O_NONBLOCK: else a FIFO would hold a thread of the pool until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) return [path];
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      length += chunk.length;
    }
    return [path, length, hash.digest('hex')];
  } finally {
    await handle.close();
  }
};

const digest = async (paths: readonly string[]): Promise<string> => {
  const readings = await Promise.all(paths.map((path) => read(path).catch((): Reading => [path])));
  return createHash('sha256').update(JSON.stringify(readings)).digest('hex');
};

/**
 * Emits one sha256 (hex) over the files at `paths`, in their order: name, presence, length and content of each, so that neither content that
 * moves from one file to the next nor a file that is emptied instead of removed goes unnoticed (the Go agent hashes contents alone).
 *
 * Cold: one reading a subscription, in chunks of 64 KiB. Never errors: what is absent, unreadable or no regular file counts as absent.
 */
export function hashFiles(paths: readonly string[]): Observable<string> {
  return defer(() => digest(paths));
}
