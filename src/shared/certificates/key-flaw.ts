// Why: docs/decisions/045-envoys-verdict-on-key-files.md
import type { KeyObject, X509Certificate } from 'node:crypto';

/** The marks of a key that needs a password: PKCS#8, and the older forms. */
const encrypted = ['-----BEGIN ENCRYPTED PRIVATE KEY-----', 'Proc-Type: 4,ENCRYPTED'];

/** Whether a key (PEM) needs a password. Pure. */
export function isEncrypted(key: Buffer): boolean {
  return encrypted.some((mark) => key.includes(mark));
}

const [begin, newLine] = ['-----BEGIN ', 0x0a];
/** The longest line that begins a block, in bytes. */
const longestLabel = 64;

/**
 * Returns the part of a PEM that begins with its first private key; undefined if it has none. A
 * block begins at the start of a line, as in BoringSSL. Pure.
 */
export function privateKeyBlock(pem: Buffer): Buffer | undefined {
  for (let offset = pem.indexOf(begin); offset >= 0; offset = pem.indexOf(begin, offset + 1)) {
    const label = pem.toString(
      'latin1',
      offset + begin.length,
      offset + begin.length + longestLabel,
    );
    if ((offset === 0 || pem[offset - 1] === newLine) && /^[^-]*PRIVATE KEY-----/.test(label))
      return pem.subarray(offset);
  }
  return undefined;
}

/**
 * Returns the end of a message about a text that is not PEM, if it begins with a byte order mark;
 * otherwise ''. Pure.
 */
export function markOf(bytes: Buffer): string {
  const marks = ['efbbbf', 'feff', 'fffe'].map((mark) => Buffer.from(mark, 'hex'));
  const isMarked = marks.some((mark) => bytes.subarray(0, mark.length).equals(mark));
  return isMarked
    ? ': a byte order mark (BOM) stands before it, write the file as plain ASCII'
    : '';
}

/** In bits. */
const shortestRsa = 2_048;
/**
 * The object identifier of an ECDSA key (RFC 5480), and the start of the identifier of its curve.
 */
const namedCurveKey = Buffer.from('06072a8648ce3d020106', 'hex');
const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];

/**
 * Returns the public key of a certificate; undefined if it cannot be read. A certificate parses
 * without it, and `publicKey` of Node throws. Pure.
 */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

/**
 * Returns why Envoy does not take a certificate with such a public key; undefined if it does. Pure.
 */
export function keyFlaw(certificate: X509Certificate): string | undefined {
  const publicKey = publicKeyOf(certificate);
  if (publicKey === undefined) return 'the key of the certificate cannot be read';
  const flaw = publicKeyFlaw(publicKey);
  return flaw === undefined ? undefined : `the key of the certificate ${flaw}`;
}

/**
 * Returns the rest of a sentence about a public key, such as `is of RSA with 1024 bits, …`, if
 * Envoy does not take it in a certificate. Pure.
 */
export function publicKeyFlaw(publicKey: KeyObject): string | undefined {
  const {
    asymmetricKeyType: type,
    asymmetricKeyDetails: { modulusLength = 0, namedCurve = '' } = {},
  } = publicKey;
  switch (type) {
    case 'ed25519':
      return undefined;
    case 'rsa':
      return modulusLength < shortestRsa
        ? `is of RSA with ${modulusLength} bits, and Envoy takes ${shortestRsa} or more`
        : undefined;
    case 'ec':
      if (!publicKey.export({ type: 'spki', format: 'der' }).includes(namedCurveKey))
        return 'has the parameters of its curve, and Envoy takes a curve by its name';
      return curves.includes(namedCurve)
        ? undefined
        : `is of the curve ${namedCurve}, and Envoy takes P-256, P-384 and P-521`;
    default:
      return `is of the type ${type ?? 'unknown'}, and Envoy takes RSA, ECDSA and Ed25519`;
  }
}
