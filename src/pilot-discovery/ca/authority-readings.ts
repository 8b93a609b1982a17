import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  from,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { repeatOn } from '../../operators/repeat-on.ts';
import { watchFiles } from '../../streams/watch-files.ts';
import {
  type AuthorityPlaces,
  type AuthorityReading,
  pathsOf,
  readAuthority,
} from './authority-files.ts';
import { isSameReading } from './same-reading.ts';

/** In ms. */
const pauses = {
  /** From a refused reading to the second reading: a program may be writing the files. */
  rest: 80,
  /** Between two readings if no change is reported. */
  every: 60_000,
  /** After a refused reading: a certificate may become valid without a change. */
  refused: 10_000,
  /** The shortest pause, if the authority ends in a moment. */
  shortest: 100,
} as const;

/**
 * Emits the authority in these places at once, and again after each change of it; also when it
 * expires, and while it is refused each time that the reason changes. A refused reading is repeated
 * once after 80 ms before it counts, and then every 10 s.
 *
 * Cold: a subscription is a watcher. Never completes, never errors.
 */
export function authorityReadings(
  places: AuthorityPlaces,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AuthorityReading> {
  return defer(() => {
    let end = 0; // of the newest authority
    const look$ = defer(() => {
      const now = scheduler.now();
      return from(readAuthority(places, now < end ? 'may not' : 'may make a root', now));
    });
    return look$.pipe(
      switchMap((reading) =>
        reading.type !== 'refused'
          ? of(reading)
          : timer(pauses.rest, scheduler).pipe(switchMap(() => look$)),
      ),
      tap((reading) => {
        if (reading.type === 'authority') end = reading.authority.notAfter;
      }),
      repeatOn(
        watchFiles(pathsOf(places), scheduler),
        (last) => pauseAfter(last, scheduler.now()),
        scheduler,
      ),
      distinctUntilChanged(isSameReading),
    );
  });
}

function pauseAfter(last: AuthorityReading | undefined, now: number): number {
  if (last?.type === 'absent') return pauses.every;
  if (last?.type !== 'authority') return pauses.refused;
  return Math.max(Math.min(pauses.every, last.authority.notAfter - now), pauses.shortest);
}
