import { asyncScheduler, defer, expand, from, map, mergeMap, type Observable, type SchedulerLike, switchMap } from 'rxjs';
import { backOff, jitter } from '../operators/back-off.ts';
import { clockTimer } from '../operators/clock-timer.ts';
import type { SetReading } from '../secrets/secret.ts';
import type { Issue } from './issue-certificate.ts';

/** What became of a request to an authority. `took` and `delay`, until the next one, are in ms. */
export type CaEvent =
  | { readonly type: 'issued'; readonly took: number; readonly delay: number }
  | { readonly type: 'request-failed'; readonly reason: string; readonly failures: number; readonly took: number; readonly delay: number };

/** When a certificate is replaced. Times in ms since 1970. */
export interface Lifetime {
  readonly created: number;
  readonly expires: number;
  /** The share of the lifetime that is to be left. */
  readonly ratio: number;
}

/** A certificate that is born expired is not asked for again and again without a pause. In ms. */
const shortest = 100;
/** What a timer of Node can count. */
const longest = 2 ** 31 - 1;
/**
 * Of the lifetime, to either side, so that not all workloads of a mesh ask at once; as in the Go
 * agent of today.
 */
const spread = 0.01;

/**
 * How long from `now` until a certificate is to be replaced, in ms. Pure, but for `random`, which
 * gives a number from 0 to 1.
 */
export function rotationDelay({ created, expires, ratio }: Lifetime, now: number, random: () => number): number {
  const lifetime = expires - created;
  const due = expires - ratio * lifetime + jitter(lifetime, spread, random()) - lifetime;
  return Math.min(Math.max(due - now, shortest), longest);
}

/** After a failed request. */
const pauses = { first: 50, longest: 30_000 };
const retrySpread = 0.2;

/**
 * How long after the `failures`th failed request in a row the next one comes: 50 ms doubling up to
 * 30 s, 20 % more or less. Pure, but for `random`.
 */
export function requestBackOff(failures: number, isFleeting: boolean, random: () => number): number {
  // What is refused will be so in a moment too; but the token on disk may be another one then.
  const delay = isFleeting ? backOff(pauses, failures - 1) : pauses.longest;
  return Math.round(jitter(delay, retrySpread, random()));
}

export interface CaOptions {
  /** The authority, for a person. */
  readonly name: string;
  /** The share of a certificate's lifetime that is left when the next one is asked for. */
  readonly ratio: number;
  /** The first request comes at random within so many ms. */
  readonly initialBackOff: number;
  readonly random: () => number;
}

/**
 * The set that an authority issues: emits a reading for each certificate, long before the one
 * before it expires, and beside it what became of each request. `issue$` is asked once for each
 * request.
 *
 * What fails is tried again, without an end, and takes nothing away: what is served stays. Cold.
 * Never ends, never errors.
 */
export function caSecrets(
  issue$: Observable<Issue>,
  { name, ratio, initialBackOff, random }: CaOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading | CaEvent> {
  const source = `certificate authority ${name}`;
  return defer(() => {
    let failures = 0;

    function request(delay: number) {
      return clockTimer(delay, scheduler).pipe(
        switchMap(() => issue$),
        map(step),
      );
    }
    function step(issue: Issue): { readonly delay: number; readonly outputs: readonly (SetReading | CaEvent)[] } {
      const { took } = issue;
      if (issue.ok) {
        failures = 0;
        const now = scheduler.now();
        const delay = rotationDelay({ created: now, expires: issue.expires, ratio }, now, random);
        return {
          delay,
          outputs: [
            { type: 'issued', took, delay },
            { type: 'set', source, set: issue.set },
          ],
        };
      }
      const { reason, isFleeting } = issue;
      failures += 1;
      const delay = requestBackOff(failures, isFleeting, random);
      return {
        delay,
        outputs: [
          { type: 'request-failed', reason, failures, took, delay },
          { type: 'refused', source, reason: `${source}: ${reason}` },
        ],
      };
    }
    return request(random() * initialBackOff).pipe(
      expand(({ delay }) => request(delay)),
      mergeMap(({ outputs }) => from(outputs)),
    );
  });
}
