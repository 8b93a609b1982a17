import { createHash, X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asyncScheduler, defer, map, type Observable, type SchedulerLike } from 'rxjs';
import { isShortage } from '../files/whole-file.ts';
import type { ConfigSource, SourceReading } from './config-source.ts';
import { watchFiles } from './watch-files.ts';

/** Path, length and digest; the latter are absent for what is not a readable regular file. */
type FileReading = readonly [path: string, length?: number, digest?: string];

/** With the serial of the first certificate that is in it. */
interface MarkedReading {
  readonly file: FileReading;
  readonly mark?: string;
}

const read = async (path: string): Promise<MarkedReading> => {
  // O_NONBLOCK: else a FIFO would hold a thread of the pool until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) return { file: [path] };
    const hash = createHash('sha256');
    let length = 0;
    let mark: string | undefined;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (length === 0) mark = serialOf(chunk);
      length += chunk.length;
    }
    return { file: [path, length, hash.digest('hex')], ...(mark !== undefined && { mark }) };
  } finally {
    await handle.close();
  }
};

/** As `openssl x509 -serial` prints it. */
function serialOf(text: Buffer): string | undefined {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  try {
    return `serial ${new X509Certificate(text).serialNumber}`;
  } catch {
    return undefined;
  }
}

function absent(path: string, error: unknown): MarkedReading {
  if (isShortage(error)) throw error;
  return { file: [path] };
}

function readFiles(paths: readonly string[]): Observable<readonly MarkedReading[]> {
  return defer(() => Promise.all(paths.map((path) => read(path).catch((error: unknown): MarkedReading => absent(path, error)))));
}

function hashOf(files: readonly MarkedReading[]): string {
  return createHash('sha256')
    .update(JSON.stringify(files.map(({ file }) => file)))
    .digest('hex');
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
        parts: () =>
          found.map(({ file: [path, , digest = ''], mark }) => ({
            source: 'files',
            part: path,
            hash: digest,
            ...(mark !== undefined && { mark }),
          })),
      })),
    ),
  };
}
