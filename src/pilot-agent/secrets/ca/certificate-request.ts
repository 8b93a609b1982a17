import { createPrivateKey, webcrypto } from 'node:crypto';
import { privateKeyPem } from '../../../shared/certificates/private-key-pem.ts';

/** The properties of a new key. */
export interface KeyOptions {
  /** RSA 2048, or ECDSA P-256. */
  readonly algorithm: 'RSA' | 'ECDSA';
  /** Writes the key as PKCS#8; otherwise in its own form (PKCS#1, SEC 1), as the Go agent does. */
  readonly pkcs8: boolean;
}

const algorithms = {
  RSA: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  },
  ECDSA: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
} as const;

/**
 * Makes a key, and a request (PKCS#10) for a certificate of it in the name of `identity`: a SPIFFE
 * URI, or a DNS name. Both are PEM.
 *
 * The subject is empty, so the name is marked critical (RFC 5280 §4.2.1.6). Loads the X.509
 * library.
 */
export async function certificateRequest(
  identity: string,
  { algorithm, pkcs8 }: KeyOptions,
): Promise<{ readonly csr: string; readonly key: Buffer }> {
  await import('reflect-metadata'); // the library needs it
  const { cryptoProvider, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } =
    await import('@peculiar/x509');
  cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithms[algorithm], true, ['sign', 'verify']);
  const name = { type: identity.includes('://') ? 'url' : 'dns', value: identity } as const;
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: '',
    keys,
    signingAlgorithm: algorithms[algorithm],
    extensions: [new SubjectAlternativeNameExtension([name], true)],
  });
  const privateKey = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    format: 'der',
    type: 'pkcs8',
  });
  const type = pkcs8 ? 'pkcs8' : algorithm === 'RSA' ? 'pkcs1' : 'sec1';
  return { csr: `${request.toString('pem')}\n`, key: privateKeyPem(privateKey, type) };
}
