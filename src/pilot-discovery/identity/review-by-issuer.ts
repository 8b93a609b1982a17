// Why: docs/decisions/104-a-token-has-one-judge.md
import { of } from 'rxjs';
import { unauthenticated } from './caller-identity.ts';
import type { ReviewToken } from './review-token.ts';

/**
 * Returns how tokens are reviewed of which one issuer has its own review. The issuer that a token
 * claims is only compared: its review proves the claim. So a token has one judge.
 *
 * @param others reviews the other tokens; undefined if they are refused
 */
export function reviewByIssuer(
  issuer: string,
  ofIssuer$: ReviewToken,
  others$: ReviewToken | undefined,
): ReviewToken {
  const refused = unauthenticated(`only tokens of the issuer ${issuer} are accepted`);
  return (proof) => {
    if (proof.claims.issuer === issuer) return ofIssuer$(proof);
    return others$ === undefined ? of(refused) : others$(proof);
  };
}
