import { describe, expect, it } from 'vitest';
import {
  bundleDigest,
  crlBundle,
  crlDigest,
  rootBundle,
} from '../../../../src/pilot-discovery/ca/root-bundle.ts';
import { testCrl } from '../../../support/test-crl.ts';
import { testIssuer } from '../../../support/plugged-authority.ts';

describe('bundleDigest', () => {
  it('is that of the roots, whatever their order and the text between them', async () => {
    const [firstIssuer, secondIssuer] = await Promise.all([
      testIssuer(),
      testIssuer({ subject: 'CN=two' }),
    ]);
    const roots = [firstIssuer.certificate, secondIssuer.certificate];
    const { digest, text } = rootBundle(roots);
    expect(text).toBe(roots.join(''));
    for (const same of [
      rootBundle(roots.toReversed()).text,
      `# the roots of the mesh\n${roots.join('\n\n')}\n`,
      roots.join('').replaceAll('\n', '\r\n'),
      text + firstIssuer.certificate,
    ])
      expect(bundleDigest(same)).toBe(digest);
    for (const other of [
      firstIssuer.certificate,
      '',
      'bad',
      `${text}-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n`,
      text.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE'),
      text + firstIssuer.key.toString(),
      text + ' '.repeat(2 << 20),
    ])
      expect(bundleDigest(other)).not.toBe(digest);
  });
});

describe('crlDigest', () => {
  it('is that of the CRLs, whatever their order and the text between them', async () => {
    const [firstCrl, secondCrl] = await Promise.all(
      [0, 1].map(async () => testCrl(await testIssuer())),
    );
    const { digest, isFor } = crlBundle(`${firstCrl}${secondCrl}`);
    expect(isFor).toBe('all namespaces');
    expect(crlDigest(`# lists\n${secondCrl}\n${firstCrl}\n${secondCrl}`)).toBe(digest);
    for (const other of [
      firstCrl ?? '',
      '',
      'bad',
      `${firstCrl}${secondCrl}${' '.repeat(2 << 20)}`,
    ])
      expect(crlDigest(other)).not.toBe(digest);
  });

  it('is the same for a blank text and for none: a namespace without a CRL needs no ConfigMap', () => {
    expect(crlBundle('')).toMatchObject({ isFor: 'namespaces that have one' });
    expect(crlDigest(' \n')).toBe(crlBundle('').digest);
  });
});
