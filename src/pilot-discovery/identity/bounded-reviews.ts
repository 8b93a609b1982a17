// Why: docs/decisions/102-a-token-is-reviewed-within-bounds.md
import { createHash } from 'node:crypto';
import { defer, of, type SchedulerLike, tap } from 'rxjs';
import { turnstile, type TurnstileBounds } from '../../operators/turnstile.ts';
import { turnstiles } from '../../operators/turnstiles.ts';
import { setNewest } from '../../shared/maps/set-newest.ts';
import { type Budget, budgets, mostClients } from './budgets.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { ReviewToken, TokenProof } from './review-token.ts';

/**
 * How many reviews there may be. A client is an IP address, or an account whose token was accepted
 * from there.
 */
export interface ReviewBounds {
  readonly ofClient: TurnstileBounds;
  readonly inAll: TurnstileBounds;
  /** Refused tokens of a client. */
  readonly refused: Budget;
}

/** The bounds of the secure port. */
export const reviewBounds: ReviewBounds = {
  ofClient: { running: 10, waiting: 200 },
  inAll: { running: 50, waiting: 2_000 },
  refused: { burst: 20, perSecond: 1 },
};

const exhausted = (reason: string): CallerIdentity => ({ ok: false, fault: 'exhausted', reason });
const tooMany = exhausted('too many tokens are being reviewed');

/**
 * Returns a review of tokens within bounds: further reviews wait, or end `exhausted`. A client
 * whose tokens were refused too often gets no review, so it delays no other client.
 *
 * An account whose token was accepted from an address is a client of its own there. So the refused
 * tokens of others behind the same gateway do not affect it.
 */
export function boundedReviews(
  review$: ReviewToken,
  bounds: ReviewBounds,
  scheduler: SchedulerLike,
): ReviewToken {
  const { burst, perSecond } = bounds.refused;
  const spent = exhausted(
    `more than ${burst} tokens of the client were refused, and then more than ${perSecond} a second`,
  );
  const failures = budgets(bounds.refused);
  const through$ = turnstile(bounds.inAll, of(tooMany));
  // The account that was accepted last comes last.
  const acceptedAccounts = new Map<string, 'accepted'>();
  const ofClient = turnstiles(bounds.ofClient, of(tooMany));
  return (proof) => {
    const ip = proof.address.slice(0, proof.address.lastIndexOf(':'));
    const account = accountAt(ip, proof);
    const client = acceptedAccounts.has(account) ? account : ip;
    const reviewed$ = defer(() =>
      failures.isSpent(client, scheduler.now()) ? of(spent) : review$(proof),
    ).pipe(
      tap((identity) => {
        if (identity.ok) setNewest(acceptedAccounts, account, 'accepted', mostClients);
        else if (identity.fault === 'unauthenticated') failures.spend(client, scheduler.now());
      }),
    );
    return reviewed$.pipe(through$, ofClient(client));
  };
}

/** Returns a name for the account that a token claims, at an address. */
const accountAt = (ip: string, { claims: { issuer, subject }, trustDomain }: TokenProof): string =>
  createHash('sha256')
    .update(JSON.stringify([ip, trustDomain, issuer, subject]))
    .digest('base64');
