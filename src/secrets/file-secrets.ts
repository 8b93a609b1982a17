import {
  asyncScheduler,
  concatMap,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  repeat,
  type SchedulerLike,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import { configHash } from '../streams/config-hash.ts';
import { fileSource } from '../streams/file-source.ts';
import { readSecretFiles, type SecretPaths } from './read-secret-files.ts';
import type { SetReading } from './secret.ts';

/** From the first change to the reading, as in the Go agent. A push costs Envoy nothing, and what does not fit together is not pushed. In ms. */
const settle = 100;
/** What is refused for its dates may be good later, without a change. In ms. */
const again = 30_000;

/**
 * The set in the files at `paths`: emits a reading at once, and one after each change of any of them, in whatever way they are replaced.
 *
 * A reading is of one moment: where a file has changed between its beginning and its end it is dropped, for the change leads to another. Cold:
 * a subscription is a watcher. Never ends, never errors.
 */
export function fileSecrets(paths: SecretPaths, scheduler: SchedulerLike = asyncScheduler): Observable<SetReading> {
  const source = fileSource([paths.chain, paths.key, paths.root], scheduler);
  function reading(before: string): Observable<SetReading> {
    return readSecretFiles(paths, scheduler).pipe(
      concatMap((read) => source.hash$.pipe(map((after) => (after === before ? read : undefined)))),
      filter((read) => read !== undefined),
    );
  }
  return configHash(source, { minDelay: settle }, scheduler).pipe(
    switchMap((hash) =>
      reading(hash).pipe(
        repeat({ delay: () => timer(again, scheduler) }),
        takeWhile(({ type }) => type === 'refused', true),
        distinctUntilChanged((a, b) => a.type === 'refused' && b.type === 'refused' && a.reason === b.reason),
      ),
    ),
  );
}
