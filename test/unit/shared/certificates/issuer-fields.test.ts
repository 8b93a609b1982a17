import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  cryptoProvider,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { expect, it } from 'vitest';
import { issuerFields } from '../../../../src/shared/certificates/issuer-fields.ts';

cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

it.each<[what: string, extensions: readonly Extension[], revoking: string]>([
  ['no key usage', [], 'allowed'],
  ['cRLSign', [new KeyUsagesExtension(KeyUsageFlags.cRLSign)], 'allowed'],
  ['keyCertSign alone', [new KeyUsagesExtension(KeyUsageFlags.keyCertSign)], 'not allowed'],
])('an authority may sign CRLs by its key usage: %s', async (_, extensions, revoking) => {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { rawData } = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=root',
    signingAlgorithm: algorithm,
    keys,
    extensions: [...extensions],
  });
  expect(issuerFields(new Uint8Array(rawData))).toMatchObject({ revoking });
});
