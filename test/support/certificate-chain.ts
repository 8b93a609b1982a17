import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  cryptoProvider,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 86_400_000;

interface Issuer {
  readonly subject: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A root, an intermediate that it issued, and a leaf for localhost issued by that; all PEM. */
export interface CertificateChain {
  readonly root: string;
  readonly intermediate: string;
  readonly leaf: string;
  readonly key: string;
}

/** Creates a chain. The chains of two calls have the same names, but different keys. */
export async function certificateChain(): Promise<CertificateChain> {
  const [top, middle, bottom] = await Promise.all(['root', 'intermediate', 'leaf'].map(issuer));
  if (top === undefined || middle === undefined || bottom === undefined) throw new Error('no keys');
  const [root, intermediate, leaf] = await Promise.all([
    certify(top, top, true),
    certify(middle, top, true),
    certify(bottom, middle, false),
  ]);
  const key = PemConverter.encode(
    await webcrypto.subtle.exportKey('pkcs8', bottom.keys.privateKey),
    'PRIVATE KEY',
  );
  return { root, intermediate, leaf, key: `${key}\n` };
}

async function issuer(name: string): Promise<Issuer> {
  return {
    subject: `CN=${name}`,
    keys: await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']),
  };
}

async function certify({ subject, keys }: Issuer, by: Issuer, isCa: boolean): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    serialNumber: String(Math.floor(Math.random() * 1e9)),
    subject,
    issuer: by.subject,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: by.keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(isCa, undefined, true),
      new KeyUsagesExtension(
        isCa ? KeyUsageFlags.keyCertSign : KeyUsageFlags.digitalSignature,
        true,
      ),
      ...(isCa
        ? []
        : [
            new SubjectAlternativeNameExtension([
              { type: 'dns', value: 'localhost' },
              { type: 'ip', value: '127.0.0.1' },
            ]),
          ]),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}
