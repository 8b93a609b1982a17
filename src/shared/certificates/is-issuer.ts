import type { X509Certificate } from 'node:crypto';

/** Returns whether an issuer has signed a certificate, and may sign certificates. Pure. */
export function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // the signature is of another kind than the key
  }
}
