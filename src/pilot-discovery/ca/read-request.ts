// Why: docs/decisions/100-certificates-are-written-without-a-library.md
import { createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { publicKeyFlaw } from '../../shared/certificates/key-flaw.ts';
import { type DerElement, derElements, oid, tags } from '../../shared/certificates/der.ts';

/** The key in a request for a certificate; or why the request is refused, for its author. */
export type ReadRequest =
  | { readonly ok: true; readonly publicKey: KeyObject }
  | { readonly ok: false; readonly reason: string };

/** The largest request, in bytes. A request for an RSA key of 8192 bits has 4 KB. */
export const largestCsr = 16 << 10;
/** In bits. A larger key takes seconds of the CPU, and Go and BoringSSL refuse it in TLS. */
const longestRsa = 8_192;
/** The exponents of an RSA key. Anyone can sign for a key with exponent 1. */
const exponents = { least: 3n, most: 2n ** 33n } as const;

const block =
  /-----BEGIN (?<label>(?:NEW )?CERTIFICATE REQUEST)-----\s(?<base64>[A-Za-z0-9+/=\s]+)-----END \k<label>-----/;

/** The supported signatures (RFC 4055, RFC 5758, RFC 8410): by identifier, in hex. */
const signatures: ReadonlyMap<string, readonly [type: string, hash: string | null]> = new Map(
  (
    [
      ['1.2.840.113549.1.1.11', ['rsa', 'sha256']],
      ['1.2.840.113549.1.1.12', ['rsa', 'sha384']],
      ['1.2.840.113549.1.1.13', ['rsa', 'sha512']],
      ['1.2.840.10045.4.3.2', ['ec', 'sha256']],
      ['1.2.840.10045.4.3.3', ['ec', 'sha384']],
      ['1.2.840.10045.4.3.4', ['ec', 'sha512']],
      ['1.3.101.112', ['ed25519', null]],
    ] as const
  ).map(([id, kind]) => [oid(id).toString('hex'), kind]),
);

/** The parts of a request (RFC 2986 §4) that are used. */
interface RequestParts {
  /** The bytes that are signed. */
  readonly signed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly algorithm: string;
  readonly signature: Uint8Array;
}

/**
 * Reads a request for a certificate (PKCS#10, PEM): checks that its key is strong, and that its
 * author has the private key. Text around the request is skipped, as in istiod. The names in it are
 * not read at all: the identity of the caller decides the name. The signature is checked in Node's
 * thread pool. Never rejects.
 */
export async function readRequest(pem: string): Promise<ReadRequest> {
  const bytes = Buffer.byteLength(pem);
  if (bytes > largestCsr) return refused(`it has ${bytes} bytes, and the limit is ${largestCsr}`);
  const { base64 } = block.exec(pem)?.groups ?? {};
  if (base64 === undefined) return refused('it is not PEM of a CERTIFICATE REQUEST');
  const parts = partsOf(Buffer.from(base64, 'base64'));
  if (parts === undefined) return refused('it is not a certificate request (PKCS#10) in DER');
  const publicKey = publicKeyIn(parts.publicKey);
  if (publicKey === undefined) return refused('its public key cannot be read');
  const flaw = publicKeyFlaw(publicKey) ?? rsaFlaw(publicKey);
  if (flaw !== undefined) return refused(`its key ${flaw}`);
  const algorithm = signatures.get(parts.algorithm);
  if (algorithm === undefined || algorithm[0] !== publicKey.asymmetricKeyType)
    return refused(
      'its signature is not one of RSA (PKCS#1) or ECDSA with SHA-256, SHA-384 or SHA-512, or Ed25519, of its key',
    );
  return (await isSigned(parts, publicKey, algorithm[1]))
    ? { ok: true, publicKey }
    : refused('it is not signed by its key');
}

const refused = (reason: string): ReadRequest => ({ ok: false, reason });

function partsOf(der: Uint8Array): RequestParts | undefined {
  const [request] = exactly(derElements(der), [tags.sequence]);
  const [info, algorithm, signature] = exactly(inside(request), [
    tags.sequence,
    tags.sequence,
    tags.bits,
  ]);
  const [version, , publicKey] = inside(info) ?? [];
  const [identifier] = inside(algorithm) ?? [];
  if (info === undefined || signature === undefined) return undefined;
  if (version?.tag !== tags.integer || identifier?.tag !== tags.oid) return undefined;
  // The first byte is the number of unused bits.
  if (publicKey?.tag !== tags.sequence || signature.content[0] !== 0) return undefined;
  return {
    signed: info.bytes,
    publicKey: publicKey.bytes,
    algorithm: Buffer.from(identifier.bytes).toString('hex'),
    signature: signature.content.subarray(1),
  };
}

const inside = (element: DerElement | undefined): readonly DerElement[] | undefined =>
  element && derElements(element.content);

/** Returns the elements if they have exactly these tags; otherwise none. */
function exactly(
  elements: readonly DerElement[] | undefined,
  expected: readonly number[],
): readonly DerElement[] {
  const isSame =
    elements?.length === expected.length &&
    elements.every(({ tag }, index) => tag === expected[index]);
  return isSame ? elements : [];
}

function publicKeyIn(der: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function rsaFlaw({ asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent } = asymmetricKeyDetails;
  if (modulusLength > longestRsa)
    return `is of RSA with ${modulusLength} bits, and the limit is ${longestRsa}`;
  if (publicExponent === undefined) return undefined;
  const { least, most } = exponents;
  return publicExponent < least || publicExponent > most || publicExponent % 2n === 0n
    ? `is of RSA with a public exponent that is even, below ${String(least)} or above ${String(most)}`
    : undefined;
}

function isSigned(
  { signed, signature }: RequestParts,
  publicKey: KeyObject,
  hash: string | null,
): Promise<boolean> {
  const key: VerifyKeyObjectInput = { key: publicKey, dsaEncoding: 'der' };
  return new Promise((done) => {
    try {
      verify(hash, signed, key, signature, (error, isRight) => done(error === null && isRight));
    } catch {
      done(false);
    }
  });
}
