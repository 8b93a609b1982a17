import { createHash } from 'node:crypto';
import { defer, of, type SchedulerLike, tap } from 'rxjs';
import { setNewest } from '../../shared/maps/set-newest.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { ReviewToken, TokenProof } from './review-token.ts';

interface RecentCaller {
  readonly identity: CallerIdentity;
  /** In ms since 1970. */
  readonly from: number;
  readonly until: number;
}

/** How long a review is valid, in ms. */
const longest = 30_000;
/** The number of tokens that are remembered. */
export const mostTokens = 10_000;

/**
 * Returns a review of tokens that does not review a token again if it was accepted in the last 30 s
 * and has not expired. Remembers a hash of each token. So a token is accepted for up to 30 s after
 * its Pod is deleted. A refusal is not remembered.
 */
export function recentCallers(review$: ReviewToken, scheduler: SchedulerLike): ReviewToken {
  const recent = new Map<string, RecentCaller>(); // the oldest is first
  return (proof) =>
    defer(() => {
      const now = scheduler.now();
      const key = keyOf(proof);
      const before = recent.get(key);
      // If the clock goes back, the token is reviewed again.
      if (before !== undefined && now >= before.from && now < before.until)
        return of(before.identity);
      return review$(proof).pipe(
        tap((identity) => {
          recent.delete(key);
          const until = Math.min(now + longest, proof.claims.expires);
          if (!identity.ok || until <= now) return;
          setNewest(recent, key, { identity, from: now, until }, mostTokens);
        }),
      );
    });
}

const keyOf = ({ token, trustDomain }: TokenProof): string =>
  createHash('sha256').update(`${trustDomain} ${token}`).digest('base64');
