import { type KeyObject, randomBytes } from 'node:crypto';
import type { SigningAuthority } from './signing-authority.ts';
import { type AlternativeName, extensions, noName, writeCertificate } from './write-certificate.ts';

/** The content of a certificate of a client and server of TLS. */
export interface LeafContent {
  readonly publicKey: KeyObject;
  readonly names: readonly AlternativeName[];
  /** In ms. */
  readonly lifetime: number;
}

/** A certificate that an authority has signed. */
export interface Certified {
  /** PEM: the certificate, each intermediate, and last all roots in one text. */
  readonly chain: readonly string[];
  /** Upper-case hex, as OpenSSL prints it. */
  readonly serialNumber: string;
  /** In ms since 1970. */
  readonly notAfter: number;
}

/**
 * In ms. A certificate begins earlier than now, because the clocks of proxies may be slow, and the
 * clock of the control plane may be fast.
 */
export const backdated = 15 * 60_000;
const second = 1_000;
const serialBytes = 16;

/**
 * Signs a certificate with the extensions of istiod. It ends after its lifetime, or with the
 * authority if that is earlier. Rejects only by a bug.
 *
 * @param now ms since 1970
 */
export async function certify(
  { issuer, keyId, key, algorithm, intermediates, roots, ...authority }: SigningAuthority,
  { publicKey, names, lifetime }: LeafContent,
  now: number,
): Promise<Certified> {
  const serialNumber = randomBytes(serialBytes);
  const notAfter = wholeSecond(Math.min(now + lifetime, authority.notAfter));
  const content = {
    serialNumber,
    issuer,
    subject: noName,
    notBefore: wholeSecond(now - backdated),
    notAfter,
    publicKey,
    extensions: [
      ...extensions.ofLeaf,
      ...(keyId === undefined ? [] : [extensions.authorityKeyId(keyId)]),
      extensions.names(names),
    ],
  };
  return {
    chain: [await writeCertificate(content, key, algorithm), ...intermediates, roots.join('')],
    serialNumber: serialNumber
      .toString('hex')
      .replace(/^(?:00)+/, '')
      .toUpperCase(),
    notAfter,
  };
}

const wholeSecond = (ms: number): number => Math.floor(ms / second) * second;
