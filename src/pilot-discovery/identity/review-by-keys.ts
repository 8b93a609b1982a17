// Why: docs/decisions/104-a-token-has-one-judge.md
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import {
  catchError,
  defer,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  timeout,
} from 'rxjs';
import { parseJson } from '../../shared/text/parse-json.ts';
import { callerOfAccount } from './caller.ts';
import { clockSays } from './clock-says.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import type { ReviewToken, TokenProof } from './review-token.ts';

/** An issuer. Its tokens are accepted if they are for one of the audiences. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/** The public keys of an issuer. */
export interface IssuerKeys {
  /** Emits the newest keys as JWKS, at once if there are any; or why there are none. */
  readonly keys$: Observable<
    { readonly ok: true; readonly keys: string } | { readonly ok: false; readonly reason: string }
  >;
  /** Notes that a token names a key that is not among these keys. */
  readonly missed: () => void;
}

/** The algorithms with a public key: no HMAC, and not `none`. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
];
/** The longest time until there are keys, in ms. */
const longest = 5_000;
/** The longest text of a token in a reason, in characters. */
const longestText = 200;
/** How far the clock of the issuer may be from ours, in s. */
const clockTolerance = 10;

/**
 * Returns a review of tokens by the keys of their issuer (JWT, RFC 7519). The `sub` of a token must
 * be a service account, as Kubernetes names it, and a token must expire. Without keys the identity
 * is unavailable.
 */
export function reviewByKeys(
  issuer: TokenIssuer,
  { keys$, missed }: IssuerKeys,
  scheduler: SchedulerLike,
): ReviewToken {
  const unavailable = (reason: string): CallerIdentity => ({
    ok: false,
    fault: 'unavailable',
    reason: `the token cannot be verified, because there are no keys of ${issuer.issuer}: ${reason}`,
  });
  const late$ = of({ ok: false, reason: `none within ${longest / 1_000} s` } as const);
  return (proof) =>
    keys$.pipe(
      timeout({ first: longest, with: () => late$, scheduler }),
      take(1),
      switchMap((answer) => {
        if (!answer.ok) return of(unavailable(answer.reason));
        const now = scheduler.now();
        return defer(() => verified(proof, issuer, answer.keys, now)).pipe(
          map(({ sub = '' }) => callerIn(sub, proof.trustDomain)),
          catchError((error: unknown) => {
            if (error instanceof errors.JWKSNoMatchingKey) missed();
            return of(unauthenticated(`the token is not valid: ${reasonOf(error, now)}`));
          }),
        );
      }),
    );
}

/** Resolves to the claims of a token; rejects if it is not valid. */
async function verified(
  { token }: TokenProof,
  { issuer, audiences }: TokenIssuer,
  keys: string,
  now: number,
): Promise<JWTPayload> {
  const options = {
    issuer,
    audience: [...audiences],
    algorithms,
    clockTolerance,
    currentDate: new Date(now),
    requiredClaims: ['iss', 'aud', 'exp', 'sub'],
  };
  const keySet = createLocalJWKSet(parseJson(keys) as JSONWebKeySet);
  try {
    return (await jwtVerify(token, keySet, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const result = await jwtVerify(token, key, options).catch(ifOtherKey);
      if (result !== undefined) return result.payload;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Returns undefined if another key may have signed; throws any other error. */
function ifOtherKey(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
}

function callerIn(subject: string, trustDomain: string): CallerIdentity {
  const caller = callerOfAccount(subject, trustDomain);
  return caller === undefined
    ? unauthenticated(`the token is of no service account: '${subject.slice(0, longestText)}'`)
    : { ok: true, caller };
}

/** Returns why a token is not valid; with our time, if that is the reason. */
function reasonOf(error: unknown, now: number): string {
  if (!(error instanceof Error)) return 'unknown';
  const message = error.message.slice(0, longestText);
  const isOfTime =
    error instanceof errors.JWTExpired ||
    (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf');
  return isOfTime ? `${message}; ${clockSays(now)}` : message;
}
