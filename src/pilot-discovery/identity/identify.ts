import { map, type Observable, of, type SchedulerLike, switchMap, take, timeout } from 'rxjs';
import { type BearerToken, bearerToken } from './bearer-token.ts';
import { callerOfAccount, spiffeOf } from './caller.ts';
import { certificateCaller } from './certificate-caller.ts';
import { clockSays } from './clock-says.ts';
import type { Identify } from './identified-calls.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import type { Presented } from './presented.ts';
import type { ReviewToken } from './review-token.ts';

/** The longest time until a caller is authenticated, in ms. */
const longest = 10_000;
/** The longest claim in a reason, in characters. */
const longestClaim = 200;

const late: CallerIdentity = {
  ok: false,
  fault: 'unavailable',
  reason: 'the trust domain of the mesh is not read yet, or the caller cannot be checked in time',
};

/**
 * Returns a function that authenticates a caller by its client certificate or, without one, by its
 * token. If the caller presents both, the certificate is used, and the token must claim the same
 * service account.
 *
 * @param trustDomain$ emits the trust domain of the mesh: at once, or as soon as it is read
 * @param review$ undefined if nobody can review tokens
 */
export function identifyBy(
  trustDomain$: Observable<string>,
  review$: ReviewToken | undefined,
  scheduler: SchedulerLike,
): Identify {
  return (presented) =>
    trustDomain$.pipe(
      take(1),
      switchMap((trustDomain) => identity$(presented, trustDomain, review$, scheduler.now())),
      timeout({ first: longest, with: () => of(late), scheduler }),
    );
}

function identity$(
  { certificate, authorization, address }: Presented,
  trustDomain: string,
  review$: ReviewToken | undefined,
  now: number,
): Observable<CallerIdentity> {
  if (certificate.type === 'refused')
    return refused$(
      `the client certificate is not verified: ${verdictOf(certificate.reason, now)}`,
    );
  const bearer = bearerToken(authorization);
  if (certificate.type === 'verified')
    return of(certificateCaller(certificate.certificate, trustDomain, now)).pipe(
      map((identity) => agreed(identity, bearer)),
    );
  switch (bearer.type) {
    case 'none':
      return refused$('there is no client certificate and no token');
    case 'refused':
      return refused$(bearer.reason);
    case 'token':
      return review$ === undefined
        ? refused$('there is no client certificate, and nobody can review a token')
        : review$({ ...bearer, address, trustDomain });
  }
}

/** Returns the verdict of OpenSSL, and what may be wrong. */
function verdictOf(reason: string, now: number): string {
  switch (reason) {
    case 'CERT_NOT_YET_VALID':
    case 'CERT_HAS_EXPIRED':
      return `${reason}; ${clockSays(now)}`;
    case 'UNABLE_TO_GET_CRL':
      return `${reason}; ca-crl.pem needs a CRL of each authority of this certificate`;
    default:
      return reason;
  }
}

const refused$ = (reason: string): Observable<CallerIdentity> => of(unauthenticated(reason));

/**
 * Returns the identity by the certificate, unless a token contradicts it. The token need not be
 * valid: it may have expired since the caller got its certificate by it.
 */
function agreed(identity: CallerIdentity, bearer: BearerToken): CallerIdentity {
  if (!identity.ok || bearer.type === 'none') return identity;
  if (bearer.type === 'refused') return unauthenticated(bearer.reason);
  const { caller } = identity;
  const { subject } = bearer.claims;
  const claimed = callerOfAccount(subject, caller.trustDomain);
  return claimed !== undefined && spiffeOf(claimed) === spiffeOf(caller)
    ? identity
    : unauthenticated(
        `the client certificate names ${spiffeOf(caller)}, and the token '${subject.slice(0, longestClaim)}'`,
      );
}
