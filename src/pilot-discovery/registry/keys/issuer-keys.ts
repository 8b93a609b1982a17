import {
  merge,
  of,
  scan,
  type SchedulerLike,
  shareReplay,
  Subject,
  switchMap,
  throttleTime,
} from 'rxjs';
import type { IssuerKeys } from '../../identity/review-by-keys.ts';
import type { KeysAddress } from '../../istio/security/token-rule.ts';
import type { FetchKeys } from './fetch-keys.ts';
import { followKeys } from './follow-keys.ts';

/** The shortest time between two fetches for keys that are missing, in ms. */
const pause = 10_000;

/**
 * Returns the keys of an issuer. They are fetched while they are subscribed to, and again soon
 * after a key is missing, but not more than once in 10 s. If a fetch fails, the last keys stay.
 */
export function issuerKeys(
  from: KeysAddress,
  fetch$: FetchKeys,
  scheduler: SchedulerLike,
): IssuerKeys {
  const missed$ = new Subject<void>();
  const again$ = missed$.pipe(throttleTime(pause, scheduler));
  return {
    missed: () => missed$.next(),
    keys$: merge(of(undefined), again$).pipe(
      switchMap(() => followKeys(from, fetch$, scheduler)),
      scan((before, answer) => (answer.ok || !before.ok ? answer : before)),
      shareReplay({ bufferSize: 1, refCount: true }),
    ),
  };
}
