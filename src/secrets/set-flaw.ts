import { keyPairFlaw } from './key-pair-flaw.ts';
import { pemCertificates } from './pem-certificates.ts';
import type { SecretSet } from './secret.ts';

/**
 * Why a set can not be served now; undefined if it can. Pure.
 *
 * Envoy refuses most of it too, but only when it is pushed, and an expired certificate not at all. A root that has expired passes: bundles keep
 * them, and Envoy takes them.
 *
 * @param now ms since 1970
 */
export function setFlaw({ pair, roots }: SecretSet, now: number): string | undefined {
  if (pair === undefined && roots === undefined) return 'neither a certificate nor a root is there';
  if (pair !== undefined) {
    if (pair.chain.trim() === '') return 'the certificate is empty';
    if (pair.key.trim() === '') return 'the key is empty';
    const flaw = keyPairFlaw(pair.chain, pair.key, now);
    if (flaw !== undefined) return flaw;
    if (pemCertificates(pair.chain) === undefined) return 'a certificate of the chain does not parse';
  }
  if (roots !== undefined) {
    if (roots.trim() === '') return 'the root is empty';
    const certificates = pemCertificates(roots);
    if (certificates === undefined) return 'a root certificate does not parse';
    if (certificates.length === 0) return 'no root certificate is in it';
  }
  return undefined;
}
