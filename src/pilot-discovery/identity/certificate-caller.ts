import type { X509Certificate } from 'node:crypto';
import { timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import { callerOfSpiffe, spiffeOf } from './caller.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import { clockSays } from './clock-says.ts';

/** The longest text of names in a reason, in characters. */
const longest = 200;

/**
 * Returns the caller that a verified client certificate names. The certificate must have exactly
 * one URI, which is the SPIFFE ID (X.509-SVID). Its time is checked again, because a connection may
 * be older than a certificate lasts. Pure.
 *
 * @param trustDomain that of the mesh: its authority may only name workloads of this domain
 * @param now ms since 1970
 */
export function certificateCaller(
  certificate: X509Certificate,
  trustDomain: string,
  now: number,
): CallerIdentity {
  const [notBefore, notAfter] = timesOf(certificate);
  // Written this way because a time that cannot be read is NaN.
  if (!(now >= notBefore))
    return unauthenticated(`the client certificate is not valid yet; ${clockSays(now)}`);
  if (!(now < notAfter))
    return unauthenticated(`the client certificate has expired; ${clockSays(now)}`);
  const names = certificate.subjectAltName ?? '';
  // Node quotes a name that could be taken for several names.
  if (names.includes('"'))
    return unauthenticated('the client certificate has a name that may be several names');
  const uris = names.split(', ').filter((name) => name.startsWith('URI:'));
  const [uri = ''] = uris;
  if (uris.length !== 1)
    return unauthenticated(
      `the client certificate has ${uris.length} URIs, and it must have one: its SPIFFE ID (${names.slice(0, longest) || 'no names'})`,
    );
  const caller = callerOfSpiffe(uri.slice('URI:'.length));
  if (caller === undefined)
    return unauthenticated(
      `the client certificate names ${uri.slice(0, longest)}, which is not spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT`,
    );
  if (caller.trustDomain !== trustDomain)
    return unauthenticated(
      `the client certificate names ${spiffeOf(caller)}, and the trust domain of the mesh is ${trustDomain}`,
    );
  return { ok: true, caller };
}
