import { createPrivateKey, X509Certificate } from 'node:crypto';

/**
 * Why a certificate chain and its key, both PEM, can not be served now; undefined if they can.
 *
 * Looks at what Envoy finds out too late, or not at all: Envoy 1.36 takes an expired certificate, and dies in mid-takeover of a key that does
 * not match. A key that is encrypted can not be compared, and passes.
 *
 * @param now ms since 1970
 */
export function keyPairFlaw(chain: string, key: string, now: number): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(chain);
  } catch {
    return 'the certificate does not parse';
  }
  if (now < Date.parse(certificate.validFrom)) return `the certificate is not valid before ${certificate.validFrom}`;
  if (now >= Date.parse(certificate.validTo)) return `the certificate has expired at ${certificate.validTo}`;
  try {
    return certificate.checkPrivateKey(createPrivateKey(key)) ? undefined : 'the key does not match the certificate';
  } catch {
    return /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m.test(key) ? undefined : 'the key does not parse';
  }
}
