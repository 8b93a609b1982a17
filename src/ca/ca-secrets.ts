import { asyncScheduler, defer, expand, from, map, mergeMap, type Observable, type SchedulerLike, switchMap, timer } from 'rxjs';
import type { SetReading } from '../secrets/secret.ts';
import type { CaEvent } from './ca-event.ts';
import type { Issue } from './issue-certificate.ts';
import { requestBackOff } from './request-back-off.ts';
import { rotationDelay } from './rotation-delay.ts';

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
 * The set that an authority issues: emits a reading for each certificate, long before the one before it expires, and beside it what became of each
 * request. `issue$` is asked once for each request.
 *
 * What fails is tried again, without an end, and takes nothing away: what is served stays. Cold. Never ends, never errors.
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
      return timer(delay, scheduler).pipe(
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
