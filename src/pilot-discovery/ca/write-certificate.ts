// Why: docs/decisions/100-certificates-are-written-without-a-library.md
import { createHash, type KeyObject, sign } from 'node:crypto';
import { bitString, der, derTime, oid, positive, tags } from '../../shared/certificates/der.ts';
import { pemBlock } from '../../shared/certificates/pem-block.ts';

/** The algorithm of a signature: its hash, and its identifier (DER). */
export interface SigningAlgorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly identifier: Uint8Array;
}

const algorithm = (hash: SigningAlgorithm['hash'], ...parts: readonly Uint8Array[]) => ({
  hash,
  identifier: der(tags.sequence, ...parts),
});

const rsa = algorithm('sha256', oid('1.2.840.113549.1.1.11'), Buffer.from('0500', 'hex'));
/** The algorithms by Node's name of the curve. */
const ofCurves: ReadonlyMap<string | undefined, SigningAlgorithm> = new Map([
  ['prime256v1', algorithm('sha256', oid('1.2.840.10045.4.3.2'))],
  ['secp384r1', algorithm('sha384', oid('1.2.840.10045.4.3.3'))],
  ['secp521r1', algorithm('sha512', oid('1.2.840.10045.4.3.4'))],
]);

/** Returns how a key signs; undefined if an authority cannot have such a key. Pure. */
export function signingAlgorithm({
  asymmetricKeyType: type,
  asymmetricKeyDetails,
}: KeyObject): SigningAlgorithm | undefined {
  if (type === 'rsa') return rsa;
  return type === 'ec' ? ofCurves.get(asymmetricKeyDetails?.namedCurve) : undefined;
}

/** The content of a certificate (RFC 5280 §4.1). Names and extensions are DER. */
export interface CertificateContent {
  readonly serialNumber: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** In ms since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

/**
 * Returns a certificate in PEM. It is signed in Node's thread pool. Rejects if the key cannot sign
 * with this algorithm.
 */
export async function writeCertificate(
  content: CertificateContent,
  key: KeyObject,
  signing: SigningAlgorithm,
): Promise<string> {
  const signed = der(
    tags.sequence,
    version3,
    positive(content.serialNumber),
    signing.identifier,
    content.issuer,
    der(tags.sequence, derTime(content.notBefore), derTime(content.notAfter)),
    content.subject,
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(inner(3), der(tags.sequence, ...content.extensions)),
  );
  const signature = await signatureOf(signed, key, signing);
  const raw = der(tags.sequence, signed, signing.identifier, bitString(signature, 0));
  return pemBlock('CERTIFICATE', raw);
}

/** The tag of a constructed element with a context-specific number instead of a type. */
const inner = (number: number): number => 0xa0 + number;
const version3 = der(inner(0), positive(Buffer.from([2])));

function signatureOf(
  data: Uint8Array,
  key: KeyObject,
  { hash }: SigningAlgorithm,
): Promise<Buffer> {
  return new Promise((done, fail) =>
    sign(hash, data, { key, dsaEncoding: 'der' }, (error, signature) =>
      error === null ? done(signature) : fail(error),
    ),
  );
}

/** A name with one organisation and one common name (RFC 5280 §4.1.2.4). Pure. */
export function subjectName(organization: string, commonName: string): Buffer {
  const part = (type: string, text: string) =>
    der(tags.set, der(tags.sequence, oid(type), der(tags.utf8, Buffer.from(text))));
  return der(tags.sequence, part('2.5.4.10', organization), part('2.5.4.3', commonName));
}

/** A name without parts. */
export const noName = der(tags.sequence);

function extension(id: string, critical: 'critical' | 'not critical', value: Buffer): Buffer {
  const flag = critical === 'critical' ? [der(tags.boolean, Buffer.from([0xff]))] : [];
  return der(tags.sequence, oid(id), ...flag, der(tags.octets, value));
}

const bits = (byte: number, unused: number) => bitString(Buffer.from([byte]), unused);

/** A name of the owner of a certificate (RFC 5280 §4.2.1.6). An address is an IPv4 address. */
export type AlternativeName = readonly ['uri' | 'dns' | 'address', string];

const nameTags = { uri: 0x86, dns: 0x82, address: 0x87 } as const;

const alternativeName = ([type, name]: AlternativeName): Buffer =>
  der(
    nameTags[type],
    type === 'address' ? Buffer.from(name.split('.').map(Number)) : Buffer.from(name),
  );

/** Extensions (RFC 5280 §4.2.1). */
export const extensions = {
  /** A server and a client of TLS: digitalSignature and keyEncipherment. */
  ofLeaf: [
    extension('2.5.29.15', 'critical', bits(0b1010_0000, 5)),
    extension(
      '2.5.29.37',
      'not critical',
      der(tags.sequence, oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2')),
    ),
    extension('2.5.29.19', 'critical', der(tags.sequence)),
  ],
  /** A root: keyCertSign and cRLSign. */
  ofRoot: [
    extension('2.5.29.15', 'critical', bits(0b0000_0110, 1)),
    extension('2.5.29.19', 'critical', der(tags.sequence, der(tags.boolean, Buffer.from([0xff])))),
  ],
  /** The identifier of the key that signs. */
  authorityKeyId: (id: Uint8Array) =>
    extension('2.5.29.35', 'not critical', der(tags.sequence, der(0x80, id))),
  subjectKeyId: (id: Uint8Array) => extension('2.5.29.14', 'not critical', der(tags.octets, id)),
  /** It is critical, because the subject is empty. */
  names: (names: readonly AlternativeName[]) =>
    extension('2.5.29.17', 'critical', der(tags.sequence, ...names.map(alternativeName))),
} as const;

/**
 * Returns an identifier of a public key: the first 160 bits of the SHA-256 hash of its
 * SubjectPublicKeyInfo. Pure.
 */
export const keyIdOf = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
