import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';

cryptoProvider.set(webcrypto);

const day = 86_400_000;
const keyKinds = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  'RSA 2048': {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  },
} as const;

interface IssuerOptions {
  readonly keys?: keyof typeof keyKinds;
  /** A text such as `CN=name`, or DER. */
  readonly subject?: string | Uint8Array<ArrayBuffer>;
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly isCa?: boolean;
  readonly hasKeyId?: boolean;
  readonly mayRevoke?: boolean;
  /** The keys of another certificate, which is then cross-signed. */
  readonly sameKeys?: webcrypto.CryptoKeyPair;
}

const usages: Readonly<Record<'ofAuthority' | 'mute' | 'ofLeaf', KeyUsageFlags>> = {
  ofAuthority: KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign,
  mute: KeyUsageFlags.keyCertSign,
  ofLeaf: KeyUsageFlags.digitalSignature,
};

/** A certificate with its key, which can sign other certificates. */
export interface TestIssuer {
  readonly subject: string | Uint8Array<ArrayBuffer>;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly algorithm: (typeof keyKinds)[keyof typeof keyKinds];
  /** PEM. */
  readonly certificate: string;
  /** PKCS#8, PEM. */
  readonly key: Buffer;
}

/** Creates an issuer whose certificate `by` signs; without `by`, a root. */
export async function testIssuer(
  {
    keys: kind = 'P-256',
    subject = 'CN=root',
    notBefore = Date.now() - day,
    notAfter = Date.now() + 100 * day,
    isCa = true,
    hasKeyId = true,
    mayRevoke = true,
    sameKeys,
  }: IssuerOptions = {},
  by?: TestIssuer,
): Promise<TestIssuer> {
  const algorithm = keyKinds[kind];
  const keys =
    sameKeys ?? (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']));
  const signer = by ?? { subject, keys, algorithm };
  const nameOf = (name: string | Uint8Array<ArrayBuffer>) => new Name(name);
  const certificate = await X509CertificateGenerator.create({
    subject: nameOf(subject),
    issuer: nameOf(signer.subject),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: signer.algorithm,
    publicKey: keys.publicKey,
    signingKey: signer.keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(isCa, undefined, true),
      new KeyUsagesExtension(
        isCa ? (mayRevoke ? usages.ofAuthority : usages.mute) : usages.ofLeaf,
        true,
      ),
      ...(hasKeyId ? [await SubjectKeyIdentifierExtension.create(keys.publicKey)] : []),
      ...(by === undefined
        ? []
        : [await AuthorityKeyIdentifierExtension.create(by.keys.publicKey)]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    subject,
    keys,
    algorithm,
    certificate: `${certificate.toString('pem')}\n`,
    key: Buffer.from(key.export({ format: 'pem', type: 'pkcs8' })),
  };
}

/**
 * Creates the files of an authority as a `cacerts` folder contains them: those of a root, and of an
 * intermediate that signs.
 */
export async function pluggedAuthority(
  options: IssuerOptions = {},
  root?: TestIssuer,
): Promise<AuthorityParts> {
  const top = root ?? (await testIssuer());
  const middle = await testIssuer({ subject: 'CN=intermediate', ...options }, top);
  return {
    certificate: middle.certificate,
    key: middle.key,
    chain: middle.certificate + top.certificate,
    roots: top.certificate,
  };
}
