import { isEncrypted, markOf, privateKeyBlock } from './key-flaw.ts';
import { keyPairFlaw, pemBlocks, pemCertificates } from './key-pair-flaw.ts';

/**
 * The maximum numbers of certificates. Each takes 0.1 ms to parse. Envoy itself follows a chain
 * over 100 certificates.
 */
const most = { chain: 100, roots: 500 };

const space = 0x20;

/**
 * Returns why a pair cannot be pushed now; undefined if it can. A pushed pair has no password.
 * Pure.
 *
 * @param now ms since 1970
 */
export function pairFlaw(chain: string, key: Buffer, now: number): string | undefined {
  if (chain.trim() === '') return 'the certificate is empty';
  if (key.every((byte) => byte <= space)) return 'the key is empty';
  const encrypted = isEncrypted(privateKeyBlock(key) ?? key)
    ? 'the key is encrypted, and there is no password for it'
    : undefined;
  return tooMany(chain, most.chain) ?? keyPairFlaw(chain, key, now) ?? encrypted;
}

function tooMany(text: string, limit: number): string | undefined {
  const { length } = pemBlocks(text);
  return length > limit ? `it has ${length} certificates, and the limit is ${limit}` : undefined;
}

/** Returns why a text is not PEM of roots; undefined if it is. Pure. */
export function rootsFlaw(roots: string): string | undefined {
  if (roots.trim() === '') return 'the root is empty';
  const flaw = tooMany(roots, most.roots);
  if (flaw !== undefined) return flaw;
  const certificates = pemCertificates(roots);
  if (certificates === undefined) return 'a root certificate does not parse';
  return certificates.length === 0
    ? `no root certificate is in it${markOf(Buffer.from(roots.slice(0, 1)))}`
    : undefined;
}
