import { type Caller, callerOfSpiffe, spiffeOf } from '../identity/caller.ts';
import { type Certified, certify } from './certify.ts';
import { readRequest } from './read-request.ts';
import type { SigningAuthority } from './signing-authority.ts';

/** Why no certificate is issued. istiod has the same kinds in its metrics. */
export interface IssueRefusal {
  /**
   * `request`: the CSR is wrong; `lifetime`: the requested lifetime is too long; `identity`: the
   * caller has no valid SPIFFE ID; `authority`: the certificate of the authority is not valid now.
   */
  readonly kind: 'request' | 'lifetime' | 'identity' | 'authority';
  /** For a person. */
  readonly reason: string;
}

/** A certificate in the name of the caller, or why none was issued. */
export type IssuedCertificate =
  | ({ readonly ok: true; readonly name: string } & Certified)
  | { readonly ok: false; readonly refusal: IssueRefusal };

/** In ms. */
export interface Lifetimes {
  /** The lifetime of a certificate if the request names none. */
  readonly usual: number;
  /** A request for a longer lifetime is refused. */
  readonly longest: number;
}

/** A request of an authenticated caller. */
export interface CertificateOrder {
  /** PKCS#10 in PEM. */
  readonly csr: string;
  readonly caller: Caller;
  /** In seconds; the usual lifetime if it is not positive. */
  readonly validity: bigint;
}

const second = 1_000;

/**
 * Issues a certificate for the key of a request, in the name of the caller. The names in the
 * request are ignored. The certificate expires after the requested lifetime, or with the authority
 * if that expires first. Never rejects, except by a bug.
 *
 * @param now ms since 1970
 */
export async function issueCertificate(
  authority: SigningAuthority,
  { csr, caller, validity }: CertificateOrder,
  { usual, longest }: Lifetimes,
  now: number,
): Promise<IssuedCertificate> {
  const name = spiffeOf(caller);
  // A slash in a part of the identity would make this the SPIFFE ID of another caller.
  if (callerOfSpiffe(name)?.serviceAccount !== caller.serviceAccount)
    return refused('identity', 'the identity of the caller does not form a valid SPIFFE ID');
  if (validity * BigInt(second) > BigInt(longest))
    return refused(
      'lifetime',
      `${validity} s are asked for, and the limit is ${longest / second} s`,
    );
  if (now < authority.notBefore || now >= authority.notAfter)
    return refused(
      'authority',
      `the certificate of the authority is not valid now: ${validityOf(authority)}`,
    );
  const request = await readRequest(csr);
  if (!request.ok) return refused('request', request.reason);
  const lifetime = validity > 0n ? Number(validity) * second : usual;
  const content = { publicKey: request.publicKey, names: [['uri', name]], lifetime } as const;
  return { ok: true, name, ...(await certify(authority, content, now)) };
}

const refused = (kind: IssueRefusal['kind'], reason: string): IssuedCertificate => ({
  ok: false,
  refusal: { kind, reason },
});

const validityOf = ({ notBefore, notAfter }: SigningAuthority): string =>
  `it begins at ${new Date(notBefore).toISOString()} and ends at ${new Date(notAfter).toISOString()}`;
