import {
  expand,
  filter,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  timeout,
  timer,
} from 'rxjs';
import { backOff } from '../../../operators/back-off.ts';
import type { KeysAddress } from '../../istio/security/token-rule.ts';
import type { FetchKeys, KeysAnswer } from './fetch-keys.ts';

/** The time between two fetches, in ms. */
const every = 20 * 60_000;
/** The longest fetch, in ms, whatever the rule says. */
const longestFetch = 60_000;
/** The pauses after failed fetches, in ms. Without any keys, nobody can be verified. */
const pauses = {
  none: { first: 1_000, longest: 10_000 },
  some: { first: 1_000, longest: 60_000 },
} as const;

interface Step {
  readonly wait: number;
  /** Whether keys have been fetched. */
  readonly keys: keyof typeof pauses;
  readonly failures: number;
  readonly result: KeysAnswer | undefined;
}

/**
 * Fetches the keys of an issuer at once, then every 20 minutes; after a failure soon, and at least
 * every 10 s until there are keys. Emits the result of each fetch. Cold; never completes, never
 * errors.
 */
export function followKeys(
  from: KeysAddress,
  fetch$: FetchKeys,
  scheduler: SchedulerLike,
): Observable<KeysAnswer> {
  const limit = Math.min(from.timeoutMs, longestFetch);
  const late: KeysAnswer = { ok: false, reason: `there is no answer within ${limit} ms` };
  const first: Step = { wait: 0, keys: 'none', failures: 0, result: undefined };
  return of(first).pipe(
    expand(({ wait, keys, failures }) =>
      timer(wait, scheduler).pipe(
        mergeMap(() =>
          fetch$(from).pipe(timeout({ each: limit, scheduler, with: () => of(late) })),
        ),
        map((result): Step =>
          result.ok
            ? { wait: every, keys: 'some', failures: 0, result }
            : { wait: backOff(pauses[keys], failures), keys, failures: failures + 1, result },
        ),
      ),
    ),
    map(({ result }) => result),
    filter((result) => result !== undefined),
  );
}
