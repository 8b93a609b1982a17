import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { describeCertificates, setFlaws } from '../../../src/pilot-agent/secrets/certificates.ts';
import { svidIdentity } from '../../../src/pilot-agent/secrets/workload-socket/svid-identity.ts';
import { bundleDigest } from '../../../src/pilot-discovery/ca/root-bundle.ts';
import { signingAuthority } from '../../../src/pilot-discovery/ca/signing-authority.ts';
import { readCredential } from '../../../src/pilot-discovery/credentials/credential-content.ts';
import { concernsAny, crlVerdict } from '../../../src/shared/certificates/crl-verdict.ts';
import { isIssuer } from '../../../src/shared/certificates/is-issuer.ts';
import { pemCertificates } from '../../../src/shared/certificates/key-pair-flaw.ts';
import { parseCrls } from '../../../src/shared/certificates/parse-crls.ts';
import { pluggedAuthority, testIssuer } from '../../support/plugged-authority.ts';
import { testCrl } from '../../support/test-crl.ts';
import { changedBytes } from '../changed-bytes.ts';
import { fuzzed } from '../parser.ts';

const pemOf = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
const issuer = await testIssuer();
const ofRsa = await testIssuer({ keys: 'RSA 2048' });
const parts = await pluggedAuthority({}, issuer);
const parsed = parseCrls({ kind: 'text', text: await testCrl(issuer) });
const crls = parsed.kind === 'crls' ? parsed.crls : [];
const originals = [issuer.certificate, ofRsa.certificate, parts.certificate].map(
  (pem) => new X509Certificate(pem),
);

/** Reads certificates in each place that may contain some. */
function parse({ pem, now }: { readonly pem: string; readonly now: number }): unknown {
  const certificates = pemCertificates(pem) ?? [];
  const behind = parts.certificate + pem;
  return [
    [pem, behind].map((chain) => [
      setFlaws({ pair: { chain, key: parts.key }, roots: chain }, now),
      describeCertificates({ kind: 'pair', chain, key: parts.key }),
      svidIdentity(chain, undefined),
      bundleDigest(chain),
      readCredential('pair', { 'tls.crt': Buffer.from(chain), 'tls.key': parts.key }, now),
      readCredential('roots', { 'ca.crt': Buffer.from(chain) }, now),
      signingAuthority({ ...parts, certificate: chain }, now),
      signingAuthority({ ...parts, chain }, now),
      signingAuthority({ ...parts, roots: chain }, now),
    ]),
    crlVerdict(crls, [...certificates, ...originals], now),
    concernsAny(crls, certificates),
    certificates.map((certificate) =>
      originals.map((other) => [isIssuer(certificate, other), isIssuer(other, certificate)]),
    ),
  ];
}

export const certificates = [
  fuzzed({
    name: 'certificates',
    inputs: fc.record({
      pem: changedBytes(...originals.map(({ raw }) => raw)).map(pemOf),
      now: fc.constantFrom(0, Date.now(), Number.MAX_SAFE_INTEGER),
    }),
    parse,
    size: 50,
    growing: {
      certificates: (size) => ({ pem: issuer.certificate.repeat(size), now: Date.now() }),
    },
  }),
];
