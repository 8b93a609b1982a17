// Why: docs/decisions/102-a-token-is-reviewed-within-bounds.md
import { defer, finalize, of, type SchedulerLike, tap } from 'rxjs';
import { turnstile, type TurnstileBounds } from '../../operators/turnstile.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { type FailureBudget, failureBudgets } from './failure-budgets.ts';
import type { ReviewToken } from './review-token.ts';

/** How many reviews there may be. A client is an IP address. */
export interface ReviewBounds {
  readonly ofClient: TurnstileBounds;
  readonly inAll: TurnstileBounds;
  /** Refused tokens of a client. */
  readonly refused: FailureBudget;
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
 * Returns how tokens are reviewed within bounds: reviews beyond them wait, or end `exhausted`. A
 * client whose tokens were refused too often gets no review, so it delays no other client.
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
  const budgets = failureBudgets(bounds.refused);
  const through$ = turnstile(bounds.inAll, of(tooMany));
  const clientTurnstile = turnstiles(bounds.ofClient);
  return (proof) => {
    const client = proof.address.slice(0, proof.address.lastIndexOf(':'));
    const reviewed$ = defer(() =>
      budgets.isSpent(client, scheduler.now()) ? of(spent) : review$(proof),
    ).pipe(
      tap((identity) => {
        if (!identity.ok && identity.fault === 'unauthenticated')
          budgets.fail(client, scheduler.now());
      }),
    );
    return defer(() => {
      const { pass$, leave } = clientTurnstile(client);
      return reviewed$.pipe(through$, pass$, finalize(leave));
    });
  };
}

/** Returns a function that gives each client its turnstile. A client that leaves is forgotten. */
function turnstiles(bounds: TurnstileBounds) {
  const clients = new Map<string, ReturnType<typeof visited>>();
  const visited = () => ({ pass$: turnstile(bounds, of(tooMany)), visits: 0 });
  return (client: string) => {
    const entry = clients.get(client) ?? visited();
    clients.set(client, entry);
    entry.visits += 1;
    return {
      pass$: entry.pass$,
      leave: () => {
        entry.visits -= 1;
        if (entry.visits === 0) clients.delete(client);
      },
    };
  };
}
