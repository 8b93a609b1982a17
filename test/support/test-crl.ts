import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  cryptoProvider,
  Extension,
  Name,
  PemConverter,
  X509CrlGenerator,
  X509CrlReason,
} from '@peculiar/x509';
import type { TestIssuer } from './plugged-authority.ts';

type Signer = Pick<TestIssuer, 'subject' | 'keys' | 'algorithm'>;

cryptoProvider.set(webcrypto);

const hour = 3_600_000;

interface CrlOptions {
  /** The revoked certificates, each as PEM. */
  readonly revoked?: readonly string[];
  /** In ms since 1970. Default: an hour ago. */
  readonly from?: number;
  /** In ms since 1970. Default: in an hour. If it is undefined, the CRL has no next update. */
  readonly to?: number | undefined;
  readonly hasKeyId?: boolean;
  readonly hasCritical?: boolean;
}

/** Returns a CRL of an issuer, PEM. */
export async function testCrl(issuer: Signer, options: CrlOptions = {}): Promise<string> {
  const { revoked = [], from = Date.now() - hour, hasKeyId = true, hasCritical = false } = options;
  const to = 'to' in options ? options.to : Date.now() + hour;
  const crl = await X509CrlGenerator.create({
    issuer: new Name(issuer.subject).toString(),
    thisUpdate: new Date(from),
    ...(to !== undefined && { nextUpdate: new Date(to) }),
    signingAlgorithm: issuer.algorithm,
    signingKey: issuer.keys.privateKey,
    entries: revoked.map((pem) => ({
      serialNumber: new X509Certificate(pem).serialNumber,
      revocationDate: new Date(from),
      reason: X509CrlReason.keyCompromise,
    })),
    extensions: [
      ...(hasKeyId ? [await AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey)] : []),
      ...(hasCritical ? [new Extension('2.5.29.28', true, new Uint8Array([0x30, 0]))] : []),
    ],
  });
  return `${PemConverter.encode(crl.rawData, 'X509 CRL')}\n`;
}
