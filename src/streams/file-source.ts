import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asyncScheduler, defer, map, type Observable, type SchedulerLike } from 'rxjs';
import { isShortage } from '../files/whole-file.ts';
import type { ConfigSource, SourceReading } from './config-source.ts';
import { watchFiles } from './watch-files.ts';

/** Path, length and digest; the latter are absent for what is not a readable regular file. */
type FileReading = readonly [path: string, length?: number, digest?: string];

const read = async (path: string): Promise<FileReading> => {
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

function absent(path: string, error: unknown): FileReading {
  if (isShortage(error)) throw error;
  return [path];
}

function readFiles(paths: readonly string[]): Observable<readonly FileReading[]> {
  return defer(() => Promise.all(paths.map((path) => read(path).catch((error: unknown): FileReading => absent(path, error)))));
}

function hashOf(files: readonly FileReading[]): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}

/**
 * Emits one sha256 (hex) over the files at `paths`, in their order: name, presence, length and
 * content of each, so that neither content that moves from one file to the next nor a file that is
 * emptied instead of removed goes unnoticed (the Go agent hashes contents alone).
 *
 * Cold: one reading a subscription, in chunks of 64 KiB. What is absent, unreadable or no regular
 * file counts as absent. Errors where the system is short of file descriptors or memory.
 */
export function hashFiles(paths: readonly string[]): Observable<string> {
  return readFiles(paths).pipe(map(hashOf));
}

/**
 * The source whose configuration is the files at `paths`, which Envoy reads itself; empty and
 * repeated paths are dropped. Without any it never changes.
 *
 * Cold; changes never end nor error; a reading errors as that of `hashFiles` does.
 */
export function fileSource(paths: readonly string[], scheduler: SchedulerLike = asyncScheduler): ConfigSource<never> {
  const files = [...new Set(paths)].filter((path) => path !== '');
  return {
    changes$: watchFiles(files, scheduler),
    reading$: readFiles(files).pipe(
      map((found): SourceReading<never> => ({
        hash: hashOf(found),
        config: undefined,
        parts: () => found.map(([path, , digest = '']) => ({ source: 'files', part: path, hash: digest })),
      })),
    ),
  };
}
