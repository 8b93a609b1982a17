import {
  combineLatest,
  connect,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  scan,
  startWith,
  switchMap,
  take,
  takeUntil,
} from 'rxjs';
import type { AuthorityReading } from './authority-files.ts';

interface Files {
  /** Whether the files have had a valid authority. */
  readonly were: 'never valid' | 'valid';
  readonly reading: AuthorityReading;
}

const unread: Files = { were: 'never valid', reading: { type: 'absent' } };

const areAway = ({ were, reading }: Files): boolean =>
  were === 'never valid' && reading.type === 'absent';

/**
 * Emits the readings of `files$`, or those of `secret$` while there are no files. If the files have
 * had a valid authority and are gone, they count as missing: `secret$` does not replace them.
 *
 * Broken files leave `secret$` subscribed: it alone knows how long the authority that it gave is
 * valid, and makes no other root until then. Cold; completes and errors with its sources.
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
    connect((state$) => {
      const used$ = state$.pipe(
        filter(areAway),
        take(1),
        switchMap(() => secret$),
        takeUntil(state$.pipe(filter(({ were }) => were === 'valid'))),
      );
      return combineLatest([state$, used$.pipe(startWith(undefined))]);
    }),
    map(([state, secret]) => (areAway(state) ? secret : state.reading)),
    filter((reading) => reading !== undefined),
    distinctUntilChanged(),
  );
}
