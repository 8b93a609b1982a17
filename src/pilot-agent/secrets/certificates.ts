import type { X509Certificate } from 'node:crypto';
import { pemCertificates, subjectOf, timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import { pairFlaw, rootsFlaw } from '../../shared/certificates/pair-flaw.ts';
import type { Secret, SecretSet, SetFlaws } from './secret.ts';

/** A summary of a certificate, for a person. Times in ms since 1970. */
export interface CertificateSummary {
  readonly subject: string;
  readonly subjectAltNames: string;
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A summary of a secret's certificates. */
export interface SecretExpiry {
  /** The name of the secret. */
  readonly name: string;
  /** The path of its file, or its source, for a person. */
  readonly source: string;
  /** The first certificate: the leaf of a pair. */
  readonly leaf: CertificateSummary;
  /** When the first of its certificates expires, in ms since 1970. */
  readonly expiresAt: number;
}

/** Returns the summary of a secret; undefined if it has no certificate that can be read. Pure. */
export function secretExpiry(
  name: string,
  source: string,
  secret: Secret,
): SecretExpiry | undefined {
  const [leaf, ...others] = describeCertificates(secret);
  return (
    leaf && {
      name,
      source,
      leaf,
      expiresAt: Math.min(leaf.notAfter, ...others.map(({ notAfter }) => notAfter)),
    }
  );
}

/**
 * Returns the certificates of a secret, the leaf of a pair first; never a part of its key. Pure.
 */
export function describeCertificates(secret: Secret): readonly CertificateSummary[] {
  return (pemCertificates(secret.kind === 'pair' ? secret.chain : secret.roots) ?? []).map(summary);
}

/**
 * Returns the certificate whose expiry ends a secret: in a chain the first one to expire; in roots
 * the last one, because until then one of them still vouches for others. Pure.
 */
export function lastingCertificate(secret: Secret): CertificateSummary | undefined {
  const sorted = [...describeCertificates(secret)].sort((a, b) => a.notAfter - b.notAfter);
  return secret.kind === 'pair' ? sorted[0] : sorted.at(-1);
}

function summary(certificate: X509Certificate): CertificateSummary {
  const { subjectAltName, serialNumber } = certificate;
  const [notBefore, notAfter] = timesOf(certificate);
  return {
    subject: subjectOf(certificate),
    subjectAltNames: subjectAltName ?? '',
    serialNumber,
    notBefore,
    notAfter,
  };
}

/**
 * Returns why the parts of a set cannot be served now. Pure.
 *
 * Envoy refuses most of these too, but only after a push, and an expired certificate not at all. An
 * expired root passes: bundles keep them, and Envoy accepts them.
 *
 * @param now ms since 1970
 */
export function setFlaws({ pair, roots }: SecretSet, now: number): SetFlaws {
  const ofPair = pair === undefined ? undefined : pairFlaw(pair.chain, pair.key, now);
  const ofRoots = roots === undefined ? undefined : rootsFlaw(roots);
  return {
    ...(ofPair !== undefined && { pair: ofPair }),
    ...(ofRoots !== undefined && { roots: ofRoots }),
  };
}
