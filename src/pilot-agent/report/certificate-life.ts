import type { CertificateReport } from './certificate-report.ts';
import { certificateTitle } from './certificate-title.ts';

/** In ms: what lasts longer does not expire soon, however short its life is. */
const soon = 86_400_000;

/** From when on a certificate is valid, to its expiry. In ms. Pure. */
export function lifetime({
  notBefore,
  notAfter,
}: Pick<CertificateReport, 'notBefore' | 'notAfter'>): number {
  return Date.parse(notAfter) - Date.parse(notBefore);
}

/** A certificate that has expired, or soon does: its name, and how long it lasts. In ms. */
export interface Expiry {
  readonly title: string;
  readonly left: number;
}

/**
 * Undefined for a certificate that lasts: more than a day, or more than a tenth of its life. Pure.
 */
export function expiryOf(certificate: CertificateReport, now: number): Expiry | undefined {
  const left = Date.parse(certificate.notAfter) - now;
  return left <= 0 || (left < soon && left < lifetime(certificate) / 10)
    ? { title: certificateTitle(certificate), left }
    : undefined;
}
