import type { X509Certificate } from 'node:crypto';
import { pemCertificates } from './pem-certificates.ts';
import type { Secret } from './secret.ts';

/** What a person wants to know of a certificate. Times in ms since 1970. */
export interface CertificateSummary {
  readonly subject: string;
  readonly subjectAltNames: string;
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The certificates of a secret, the leaf of a pair first; never anything of its key. Pure. */
export function describeCertificates(secret: Secret): readonly CertificateSummary[] {
  return (pemCertificates(secret.kind === 'pair' ? secret.chain : secret.roots) ?? []).map(summary);
}

function summary({ subject, subjectAltName, serialNumber, validFrom, validTo }: X509Certificate): CertificateSummary {
  return {
    // Node types it as always there, but a certificate need not have a subject.
    subject: ((subject as string | undefined) ?? '').replaceAll('\n', ', '),
    subjectAltNames: subjectAltName ?? '',
    serialNumber,
    notBefore: Date.parse(validFrom),
    notAfter: Date.parse(validTo),
  };
}
