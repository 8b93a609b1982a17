import { createHash, X509Certificate } from 'node:crypto';
import {
  asyncScheduler,
  defaultIfEmpty,
  forkJoin,
  map,
  Observable,
  type SchedulerLike,
} from 'rxjs';
import { eachPiece, largest } from '../shared/files/outside-file.ts';
import type { ConfigSource, SourceReading } from './config-source.ts';
import { watchFiles } from './watch-files.ts';

/**
 * Path, length and digest. The last two are absent if the file is not a readable regular file of at
 * most 64 MiB.
 */
type FileReading = readonly [path: string, length?: number, digest?: string];

/** A reading with the serial of its first certificate. */
interface MarkedReading {
  readonly file: FileReading;
  readonly mark?: string;
}

/**
 * Reads a file. A file that is not regular, cannot be read, or is larger than 64 MiB counts as
 * absent.
 */
function read(path: string): Observable<MarkedReading> {
  return new Observable((subscriber) => {
    const hash = createHash('sha256');
    let length = 0;
    let mark: string | undefined;
    const take = (piece: Buffer) => {
      hash.update(piece);
      if (length === 0) mark = serialOf(piece);
      length += piece.length;
    };
    void eachPiece(path, largest.envoy, take, () => !subscriber.closed).then((flaw) => {
      if (flaw?.isShort === true) subscriber.error(new Error(flaw.reason));
      subscriber.next(
        flaw === undefined
          ? { file: [path, length, hash.digest('hex')], ...(mark !== undefined && { mark }) }
          : { file: [path] },
      );
      subscriber.complete();
    });
  });
}

/** Returns the serial as `openssl x509 -serial` prints it. */
function serialOf(text: Buffer): string | undefined {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  try {
    return `serial ${new X509Certificate(text).serialNumber}`;
  } catch {
    return undefined;
  }
}

function readFiles(paths: readonly string[]): Observable<readonly MarkedReading[]> {
  return forkJoin(paths.map(read)).pipe(defaultIfEmpty([]));
}

function hashOf(files: readonly MarkedReading[]): string {
  return createHash('sha256')
    .update(JSON.stringify(files.map(({ file }) => file)))
    .digest('hex');
}

/**
 * Emits one sha256 (hex) over the files at `paths`, in their order: path, presence, length and
 * content of each. So it changes when content moves from one file to the next, or when a file is
 * emptied instead of removed (the Go agent hashes only contents).
 *
 * Cold: one reading a subscription, in chunks of 64 KiB; unsubscribing ends it. A path that is
 * absent, unreadable, no regular file or larger than 64 MiB counts as absent. Errors if the system
 * is short of file descriptors or memory.
 */
export function hashFiles(paths: readonly string[]): Observable<string> {
  return readFiles(paths).pipe(map(hashOf));
}

/**
 * Returns the source of the files at `paths`, which Envoy reads itself; empty and repeated paths
 * are dropped. Without any path it never changes.
 *
 * Cold; the changes never complete nor error; a reading errors as that of `hashFiles` does.
 */
export function fileSource(
  paths: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): ConfigSource<never> {
  const files = [...new Set(paths)].filter((path) => path !== '');
  return {
    changes$: watchFiles(files, scheduler),
    reading$: readFiles(files).pipe(
      map((readings): SourceReading<never> => ({
        hash: hashOf(readings),
        config: undefined,
        parts: () =>
          readings.map(({ file: [path, , digest = ''], mark }) => ({
            source: 'files',
            part: path,
            hash: digest,
            ...(mark !== undefined && { mark }),
          })),
      })),
    ),
  };
}
