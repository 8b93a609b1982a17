import {
  asyncScheduler,
  defaultIfEmpty,
  filter,
  forkJoin,
  map,
  type Observable,
  type SchedulerLike,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { SecretBook } from '../secret-book.ts';
import type { VersionedSecret } from '../secret.ts';
import type { SdsPush } from './stream-event.ts';

/** The time for which a fetch waits for a missing secret, in ms. */
const timeoutMs = 2_000;

/**
 * Emits the secrets of these names as one push, with the names that still had no secret at the
 * timeout, and completes. Cold; never errors.
 */
export function fetchSecrets(
  names: readonly string[],
  book: Pick<SecretBook, 'get'>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<{ readonly push: SdsPush; readonly missing: readonly string[] }> {
  const lookups = names.map((name) =>
    book.get(name).pipe(
      map(({ offered }): readonly [string, VersionedSecret | undefined] => [name, offered]),
      filter(([, offered]) => offered !== undefined),
      take(1),
      takeUntil(timer(timeoutMs, scheduler)),
      defaultIfEmpty<readonly [string, VersionedSecret | undefined], readonly [string, undefined]>([
        name,
        undefined,
      ]),
    ),
  );
  return forkJoin(lookups).pipe(
    defaultIfEmpty([]),
    map((entries) => {
      const secrets = new Map(
        entries.flatMap(([name, offered]) => (offered === undefined ? [] : [[name, offered]])),
      );
      const version = [...secrets.values()].map((offered) => offered.version).join('+');
      return {
        push: { nonce: '', version, secrets },
        missing: names.filter((name) => !secrets.has(name)),
      };
    }),
  );
}
