import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { isEncrypted, keyFlaw, markOf, privateKeyBlock } from './key-flaw.ts';

/**
 * A block begins and ends at the start of a line, as in BoringSSL. OpenSSL also takes a block that
 * follows a byte order mark. Envoy ignores such a block.
 */
const certificateBlock =
  /(?<![^\n])-----BEGIN (?<label>(?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*(?:(?<=\n)-----END \k<label>-----(?=[\0-\x20]*(?:\n|$)))?/g;

/** Returns the certificates of a PEM text, in their order, each as a block of that text. Pure. */
export function pemBlocks(text: string): readonly string[] {
  return text.match(certificateBlock) ?? [];
}

/**
 * Returns the certificates of a PEM text, in their order; undefined if one of them does not parse,
 * or has an invalid time. Skips other blocks, and text between blocks.
 */
export function pemCertificates(text: string): readonly X509Certificate[] | undefined {
  try {
    const certificates = pemBlocks(text).map((block) => new X509Certificate(block));
    return certificates.some((certificate) => timesOf(certificate).some(Number.isNaN))
      ? undefined
      : certificates;
  } catch {
    return undefined;
  }
}

/**
 * Returns when a certificate begins and ends, in ms since 1970. NaN for an invalid time: OpenSSL
 * parses a certificate with one.
 */
export function timesOf({
  validFrom,
  validTo,
}: X509Certificate): readonly [notBefore: number, notAfter: number] {
  return [Date.parse(validFrom), Date.parse(validTo)];
}

/**
 * Returns the subject on one line; '' for a certificate without a subject, which Node's types do
 * not allow for.
 */
export function subjectOf({ subject }: X509Certificate): string {
  return ((subject as string | undefined) ?? '').replaceAll('\n', ', ');
}

/**
 * Returns why a certificate chain and its key, both PEM, cannot be served now; undefined if they
 * can.
 *
 * Checks what Envoy notices too late, or not at all: Envoy 1.36 accepts an expired certificate, and
 * dies during a hot restart if the key does not match. An encrypted key cannot be compared, and
 * passes.
 *
 * @param now ms since 1970
 */
export function keyPairFlaw(chain: string, key: Buffer, now: number): string | undefined {
  const [certificate, others] = [parsed(pemBlocks(chain)[0]), pemCertificates(chain)];
  if (certificate === undefined)
    return `the certificate does not parse${markOf(Buffer.from(chain.slice(0, 1)))}`;
  const [notBefore, notAfter] = timesOf(certificate);
  if (Number.isNaN(notBefore + notAfter)) return 'the certificate has an unreadable time';
  if (now < notBefore)
    return `the certificate is not valid before ${certificate.validFrom}: look at the clock of this machine`;
  if (now >= notAfter)
    return `the certificate has expired at ${certificate.validTo}: issue a new one`;
  return (
    keyFlaw(certificate) ??
    privateKeyFlaw(certificate, chain, key) ??
    (others === undefined ? 'a certificate of the chain does not parse' : undefined)
  );
}

function parsed(block: string | undefined): X509Certificate | undefined {
  try {
    return block === undefined ? undefined : new X509Certificate(block);
  } catch {
    return undefined;
  }
}

function privateKeyFlaw(
  certificate: X509Certificate,
  chain: string,
  key: Buffer,
): string | undefined {
  const block = privateKeyBlock(key);
  if (block === undefined) return `the key does not parse${markOf(key)}`;
  try {
    const privateKey = createPrivateKey(block);
    return certificate.checkPrivateKey(privateKey)
      ? undefined
      : mismatch(certificate, privateKey, chain);
  } catch {
    return isEncrypted(block) ? undefined : 'the key does not parse';
  }
}

/** In characters. A subject may be as long as its certificate. */
const longestSubject = 100;

/**
 * Describes the certificate and the key by the fingerprints of their public keys: the first 16 hex
 * digits of sha256, as `openssl pkey -pubout -outform DER | sha256sum` prints them.
 */
function mismatch(certificate: X509Certificate, key: KeyObject, chain: string): string {
  const others = (pemCertificates(chain) ?? []).slice(1);
  const place = others.findIndex((other) => other.checkPrivateKey(key)) + 2;
  const { serialNumber } = certificate;
  const certificateWords = `subject ${subjectOf(certificate).slice(0, longestSubject) || 'none'}, serial ${serialNumber}, public key ${fingerprint(certificate.publicKey)}`;
  const keyWords = `the public key of the private key is ${fingerprint(createPublicKey(key))}`;
  const fix =
    place > 1
      ? `it is that of certificate ${place} of the chain, which has to be the first`
      : 'both have to be of one pair';
  return `the key does not match the certificate (${certificateWords}; ${keyWords}): ${fix}`;
}

function fingerprint(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
}
