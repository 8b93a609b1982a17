import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { TestIssuer } from './plugged-authority.ts';

cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;

/** A certificate with its key, both PEM. */
export interface WorkloadPair {
  readonly chain: string;
  readonly key: string;
}

export interface WorkloadNames {
  readonly names: readonly JsonGeneralName[];
  /** The start of the validity, in ms from now. Default: an hour ago. */
  readonly from?: number;
  /** The end of the validity, in ms from now. Default: in an hour. */
  readonly to?: number;
  /** The extended key usages. Default: server and client. */
  readonly usages?: readonly string[];
  /** The hash of the signature. Default: SHA-256. */
  readonly hash?: 'SHA-1' | 'SHA-256';
}

/** An authority that issues certificates for any names, and its root as PEM. */
export interface WorkloadAuthority {
  readonly root: string;
  /** The signer of the certificates, which can also sign a CRL. */
  readonly issuer: Pick<TestIssuer, 'subject' | 'keys' | 'algorithm'>;
  issue(names: WorkloadNames): Promise<WorkloadPair>;
}

export const uri = (value: string): JsonGeneralName => ({ type: 'url', value });

/** Creates one with a new key. */
export async function workloadAuthority(name = 'root'): Promise<WorkloadAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const timeFromNow = (ms: number) => new Date(Date.now() + ms);
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${name}`,
    notBefore: timeFromNow(-48 * hour),
    notAfter: timeFromNow(48 * hour),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    root: `${root.toString('pem')}\n`,
    issuer: { subject: root.subject, keys, algorithm },
    async issue({ names, from = -hour, to = hour, usages, hash = 'SHA-256' }) {
      const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const leaf = await X509CertificateGenerator.create({
        serialNumber: String(Math.floor(Math.random() * 1e9)),
        subject: 'CN=leaf',
        issuer: root.subject,
        notBefore: timeFromNow(from),
        notAfter: timeFromNow(to),
        signingAlgorithm: { ...algorithm, hash },
        publicKey: pair.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new SubjectAlternativeNameExtension([...names]),
          new ExtendedKeyUsageExtension([
            ...(usages ?? [ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
          ]),
        ],
      });
      const key = PemConverter.encode(
        await webcrypto.subtle.exportKey('pkcs8', pair.privateKey),
        'PRIVATE KEY',
      );
      return { chain: `${leaf.toString('pem')}\n`, key: `${key}\n` };
    },
  };
}
