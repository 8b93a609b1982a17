import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { der } from '../../src/shared/certificates/der.ts';

/** A private key with its public key. */
interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The algorithms of signatures: the hash, and the identifier (DER of an OID and parameters). */
const signatureKinds = {
  'RSA SHA-256': ['sha256', '06092a864886f70d01010b0500'],
  'RSA SHA-512': ['sha512', '06092a864886f70d01010d0500'],
  'RSA SHA-1': ['sha1', '06092a864886f70d0101050500'],
  'RSA MD5': ['md5', '06092a864886f70d0101040500'],
  'ECDSA SHA-256': ['sha256', '06082a8648ce3d040302'],
  'ECDSA SHA-384': ['sha384', '06082a8648ce3d040303'],
  Ed25519: [null, '06032b6570'],
  Ed448: [null, '06032b6571'],
} as const;

type SignatureKind = keyof typeof signatureKinds;

/** Returns a certificate request for a key, as DER, with an empty subject. */
export function testCsr({ privateKey, publicKey }: KeyPair, kind: SignatureKind): Buffer {
  const [hash, algorithm] = signatureKinds[kind];
  const info = der(
    0x30,
    der(0x02, Buffer.from([0])),
    der(0x30),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa0),
  );
  const signature = sign(hash, info, { key: privateKey, dsaEncoding: 'der' });
  const bits = der(0x03, Buffer.from([0]), signature);
  return der(0x30, info, der(0x30, Buffer.from(algorithm, 'hex')), bits);
}

/** Returns DER as PEM. */
export function csrPem(bytes: Uint8Array, label = 'CERTIFICATE REQUEST'): string {
  const lines = Buffer.from(bytes).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** Keys that a certificate may have, each with its kind of signature. */
export const goodKeys = {
  'RSA 2048': [generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RSA SHA-256'],
  'P-256': [generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ECDSA SHA-256'],
  'P-384': [generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'ECDSA SHA-384'],
  'P-521': [generateKeyPairSync('ec', { namedCurve: 'P-521' }), 'ECDSA SHA-256'],
  Ed25519: [generateKeyPairSync('ed25519'), 'Ed25519'],
} as const satisfies Readonly<Record<string, readonly [KeyPair, SignatureKind]>>;
