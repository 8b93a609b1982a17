import { distinctUntilChanged, map, type Observable, of, scan, switchMap } from 'rxjs';
import type { AuthorityReading } from './authority-files.ts';

interface Files {
  /** Whether the files have had a valid authority. */
  readonly were: 'never valid' | 'valid';
  readonly reading: AuthorityReading;
}

const unread: Files = { were: 'never valid', reading: { type: 'absent' } };

/**
 * Emits the readings of `files$`, or those of `secret$` while there are no files. If the files have
 * had a valid authority and are gone, they count as missing: `secret$` does not replace them. Cold;
 * completes and errors with its sources.
 */
export function filesElseSecrets(
  files$: Observable<AuthorityReading>,
  secret$: Observable<AuthorityReading>,
): Observable<AuthorityReading> {
  return files$.pipe(
    scan(
      ({ were }, reading): Files => ({
        were: reading.type === 'authority' ? 'valid' : were,
        reading,
      }),
      unread,
    ),
    map(({ were, reading }) =>
      were === 'never valid' && reading.type === 'absent' ? undefined : reading,
    ),
    distinctUntilChanged(),
    switchMap((reading) => (reading === undefined ? secret$ : of(reading))),
  );
}
