// Why: docs/decisions/104-a-token-has-one-judge.md
import { of } from 'rxjs';
import { unauthenticated } from './caller-identity.ts';
import type { ReviewToken } from './review-token.ts';

/**
 * Returns a review that passes each token to one verifier: `ofIssuer$` if the token claims
 * `issuer`, otherwise `others$`. The claim is only compared here; `ofIssuer$` has to verify it.
 *
 * @param others$ undefined if all other tokens are refused
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
