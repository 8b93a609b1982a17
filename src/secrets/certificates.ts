import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isEncrypted, markOf, privateKeyBlock, keyFlaw } from './key-flaw.ts';
import type { Secret, SecretSet, SetFlaws } from './secret.ts';

/** Each takes 0.1 ms to parse. Envoy itself follows a chain over 100 certificates. */
const most = { chain: 100, roots: 500 };

/**
 * A block begins and ends at the beginning of a line, as BoringSSL has it: OpenSSL takes one behind
 * a byte order mark too, which Envoy passes over.
 */
const certificateBlock =
  /(?<![^\n])-----BEGIN (?<label>(?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*(?:(?<=\n)-----END \k<label>-----(?=[\0-\x20]*(?:\n|$)))?/g;

function pemBlocks(text: string): readonly string[] {
  return text.match(certificateBlock) ?? [];
}

/**
 * The certificates of a PEM text, in their order; undefined if one of them does not parse, or has
 * a time that is none. Other blocks, and text between, are passed over.
 */
export function pemCertificates(text: string): readonly X509Certificate[] | undefined {
  try {
    const certificates = pemBlocks(text).map((block) => new X509Certificate(block));
    return certificates.some((certificate) => timesOf(certificate).some(Number.isNaN)) ? undefined : certificates;
  } catch {
    return undefined;
  }
}

/** In ms since 1970. OpenSSL takes times that are none, and calls them so. */
function timesOf({ validFrom, validTo }: X509Certificate): readonly [notBefore: number, notAfter: number] {
  return [Date.parse(validFrom), Date.parse(validTo)];
}

/** What a person wants to know of a certificate. Times in ms since 1970. */
export interface CertificateSummary {
  readonly subject: string;
  readonly subjectAltNames: string;
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** What is known of a secret by its certificates. */
export interface KnownCertificate {
  /** Of the secret. */
  readonly name: string;
  /** The path of its file, or where the secret comes from, for a person. */
  readonly source: string;
  /** The first one: the leaf of a pair. */
  readonly leaf: CertificateSummary;
  /** When the first of its certificates expires: ms since 1970. */
  readonly expiresAt: number;
}

/** Undefined for a secret without a certificate that can be read. Pure. */
export function knownCertificate(name: string, source: string, secret: Secret): KnownCertificate | undefined {
  const [leaf, ...others] = describeCertificates(secret);
  return leaf && { name, source, leaf, expiresAt: Math.min(leaf.notAfter, ...others.map(({ notAfter }) => notAfter)) };
}

/** The certificates of a secret, the leaf of a pair first; never anything of its key. Pure. */
export function describeCertificates(secret: Secret): readonly CertificateSummary[] {
  return (pemCertificates(secret.kind === 'pair' ? secret.chain : secret.roots) ?? []).map(summary);
}

/**
 * The certificate whose end is that of a secret: of a chain the first one to expire; of roots the
 * last one, for until then there is one by which others are known. Pure.
 */
export function lastingCertificate(secret: Secret): CertificateSummary | undefined {
  const sorted = [...describeCertificates(secret)].sort((one, other) => one.notAfter - other.notAfter);
  return secret.kind === 'pair' ? sorted[0] : sorted.at(-1);
}

function summary(certificate: X509Certificate): CertificateSummary {
  const { subject, subjectAltName, serialNumber } = certificate;
  const [notBefore, notAfter] = timesOf(certificate);
  return {
    // Node types it as always there, but a certificate need not have a subject.
    subject: ((subject as string | undefined) ?? '').replaceAll('\n', ', '),
    subjectAltNames: subjectAltName ?? '',
    serialNumber,
    notBefore,
    notAfter,
  };
}

/**
 * Why a certificate chain and its key, both PEM, can not be served now; undefined if they can.
 *
 * Looks at what Envoy finds out too late, or not at all: Envoy 1.36 takes an expired certificate,
 * and dies in mid-takeover of a key that does not match. A key that is encrypted can not be
 * compared, and passes.
 *
 * @param now ms since 1970
 */
export function keyPairFlaw(chain: string, key: Buffer, now: number): string | undefined {
  const [certificate, others] = [parsed(pemBlocks(chain)[0]), pemCertificates(chain)];
  if (certificate === undefined) return `the certificate does not parse${markOf(Buffer.from(chain.slice(0, 1)))}`;
  const [notBefore, notAfter] = timesOf(certificate);
  if (Number.isNaN(notBefore + notAfter)) return 'the certificate has a time that is none';
  if (now < notBefore) return `the certificate is not valid before ${certificate.validFrom}: look at the clock of this machine`;
  if (now >= notAfter) return `the certificate has expired at ${certificate.validTo}: issue a new one`;
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

function privateKeyFlaw(certificate: X509Certificate, chain: string, key: Buffer): string | undefined {
  const block = privateKeyBlock(key);
  if (block === undefined) return `the key does not parse${markOf(key)}`;
  try {
    const own = createPrivateKey(block);
    return certificate.checkPrivateKey(own) ? undefined : mismatch(certificate, own, chain);
  } catch {
    return isEncrypted(block) ? undefined : 'the key does not parse';
  }
}

/** In characters. A subject may be as long as its certificate. */
const longestSubject = 100;

/**
 * Which certificate it is, and which key, by the fingerprints of their public keys: the first 16
 * hex digits of sha256, as `openssl pkey -pubout -outform DER | sha256sum` has it.
 */
function mismatch(certificate: X509Certificate, key: KeyObject, chain: string): string {
  const others = (pemCertificates(chain) ?? []).slice(1);
  const place = others.findIndex((other) => other.checkPrivateKey(key)) + 2;
  const { subject, serialNumber } = summary(certificate);
  const which = `subject ${subject.slice(0, longestSubject) || 'none'}, serial ${serialNumber}, public key ${fingerprint(certificate.publicKey)}`;
  const its = `the public key of the key is ${fingerprint(createPublicKey(key))}`;
  const fix = place > 1 ? `it is that of certificate ${place} of the chain, which has to be the first` : 'both have to be of one pair';
  return `the key does not match the certificate (${which}; ${its}): ${fix}`;
}

function fingerprint(key: KeyObject): string {
  return createHash('sha256').update(key.export({ type: 'spki', format: 'der' })).digest('hex').slice(0, 16); // prettier-ignore
}

/**
 * Why the parts of a set can not be served now. Pure.
 *
 * Envoy refuses most of it too, but only when it is pushed, and an expired certificate not at all.
 * A root that has expired passes: bundles keep them, and Envoy takes them.
 *
 * @param now ms since 1970
 */
export function setFlaws({ pair, roots }: SecretSet, now: number): SetFlaws {
  const ofPair = pair === undefined ? undefined : pairFlaw(pair.chain, pair.key, now);
  const ofRoots = roots === undefined ? undefined : rootsFlaw(roots);
  return { ...(ofPair !== undefined && { pair: ofPair }), ...(ofRoots !== undefined && { roots: ofRoots }) };
}

const space = 0x20;

/**
 * Why a pair can not be pushed now; undefined if it can. There is no password for what is pushed.
 * Pure.
 *
 * @param now ms since 1970
 */
export function pairFlaw(chain: string, key: Buffer, now: number): string | undefined {
  if (chain.trim() === '') return 'the certificate is empty';
  if (key.every((byte) => byte <= space)) return 'the key is empty';
  const encrypted = isEncrypted(privateKeyBlock(key) ?? key) ? 'the key is encrypted, and there is no password for it' : undefined;
  return tooMany(chain, most.chain) ?? keyPairFlaw(chain, key, now) ?? encrypted;
}

function tooMany(text: string, limit: number): string | undefined {
  const { length } = pemBlocks(text);
  return length > limit ? `it has ${length} certificates, and ${limit} are the limit` : undefined;
}

function rootsFlaw(roots: string): string | undefined {
  if (roots.trim() === '') return 'the root is empty';
  const flaw = tooMany(roots, most.roots);
  if (flaw !== undefined) return flaw;
  const certificates = pemCertificates(roots);
  if (certificates === undefined) return 'a root certificate does not parse';
  return certificates.length === 0 ? `no root certificate is in it${markOf(Buffer.from(roots.slice(0, 1)))}` : undefined;
}
