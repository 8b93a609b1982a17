import type { CertificateReport } from './certificate-report.ts';
import { certificateTitle } from './certificate-title.ts';

/** In ms. A certificate that still lasts longer does not expire soon, however short its life is. */
const soon = 86_400_000;

/** Returns the time from the start of a certificate's validity to its expiry, in ms. Pure. */
export function lifetime({
  notBefore,
  notAfter,
}: Pick<CertificateReport, 'notBefore' | 'notAfter'>): number {
  return Date.parse(notAfter) - Date.parse(notBefore);
}

/** A certificate that has expired, or soon will: its title, and how long it still lasts, in ms. */
export interface Expiry {
  readonly title: string;
  readonly left: number;
}

/**
 * Returns the expiry of a certificate; undefined if it still lasts more than a day, or more than a
 * tenth of its life. Pure.
 */
export function expiryOf(certificate: CertificateReport, now: number): Expiry | undefined {
  const left = Date.parse(certificate.notAfter) - now;
  return left <= 0 || (left < soon && left < lifetime(certificate) / 10)
    ? { title: certificateTitle(certificate), left }
    : undefined;
}
