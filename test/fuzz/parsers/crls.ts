import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { readAuthoritySecret } from '../../../src/pilot-discovery/ca/authority-secret.ts';
import { crlFlaw } from '../../../src/shared/certificates/crl-flaw.ts';
import { concernsAny, crlVerdict } from '../../../src/shared/certificates/crl-verdict.ts';
import { der, oid, tags } from '../../../src/shared/certificates/der.ts';
import { parseCrls } from '../../../src/shared/certificates/parse-crls.ts';
import { isCrlOf } from '../../../src/shared/certificates/read-crl.ts';
import { pluggedAuthority, testIssuer } from '../../support/plugged-authority.ts';
import { testCrl } from '../../support/test-crl.ts';
import { changedBytes } from '../changed-bytes.ts';
import { fuzzed, textOf } from '../parser.ts';

const [begin, end] = ['-----BEGIN X509 CRL-----\n', '-----END X509 CRL-----\n'];
const pemOf = (bytes: Uint8Array): string =>
  `${begin}${Buffer.from(bytes).toString('base64')}\n${end}`;
const bytesOf = (pem: string): Buffer =>
  Buffer.from(pem.slice(begin.length - 1, pem.indexOf('-----END')), 'base64');

const issuer = await testIssuer();
const parts = await pluggedAuthority({}, issuer);
const authorities = [new X509Certificate(issuer.certificate)];
const real = await Promise.all([
  testCrl(issuer),
  testCrl(issuer, { revoked: [parts.certificate, issuer.certificate] }),
  testCrl(issuer, { hasKeyId: false, to: undefined }),
  testCrl(issuer, { hasCritical: true }),
]);

const broken = changedBytes(...real.map(bytesOf));

/** Reads a text as the control plane, an agent and a gateway do. */
function parse(text: string): unknown {
  const parsed = parseCrls({ kind: 'text', text });
  if (parsed.kind !== 'crls') return crlFlaw(text);
  const { crls } = parsed;
  return [
    crlVerdict(crls, authorities, Date.now()),
    concernsAny(crls, authorities),
    crls.map((crl) => authorities.map((by) => isCrlOf(crl, by.publicKey))),
  ];
}

const [firstReal] = real;
/** Returns a CRL with these fields after its times. */
const listWith = (...fields: readonly Buffer[]): string => {
  const time = der(tags.utcTime, Buffer.from('250101000000Z'));
  const algorithm = der(tags.sequence, oid('1.2.840.10045.4.3.2'));
  const signed = der(tags.sequence, algorithm, der(tags.sequence), time, time, ...fields);
  return pemOf(der(tags.sequence, signed, algorithm, der(tags.bits, Buffer.from([0]))));
};
const entry = der(
  tags.sequence,
  der(tags.integer, Buffer.from([1])),
  der(tags.utcTime, Buffer.from('250101000000Z')),
);

export const crls = [
  fuzzed({
    name: 'CRLs',
    inputs: fc.oneof(
      broken.map(pemOf),
      fc.uint8Array({ maxLength: 400 }).map(pemOf),
      fc
        .array(fc.constantFrom(...real, '\n', begin, end), { maxLength: 5 })
        .map((all) => all.join('')),
      textOf(begin, end, 'MIIB', 'AAAA\n', '-----BEGIN CERTIFICATE-----\n', '-', '\n', '\0', '='),
    ),
    parse,
    size: 200,
    growing: {
      lists: (size) => firstReal.repeat(size),
      begins: (size) => begin.repeat(size),
      'a long block': (size) => `${begin}${'AAAA\n'.repeat(size * 10)}${end}`,
      'a block without an end': (size) => `${begin}${' \n'.repeat(size * 10)}`,
      'blocks without an end': (size) => `${begin}AAAA\n`.repeat(size),
      dashes: (size) => '-'.repeat(size * 20),
      'revoked certificates': (size) =>
        listWith(der(tags.sequence, ...Array.from({ length: size }, () => entry))),
      'empty elements': (size) => pemOf(Buffer.from('0500'.repeat(size), 'hex')),
      'elements in elements': (size) => pemOf(Buffer.from('3080'.repeat(size), 'hex')),
      'extensions of a list': (size) =>
        listWith(
          der(0xa0, der(tags.sequence, ...Array.from({ length: size }, () => der(tags.sequence)))),
        ),
    },
  }),
  fuzzed({
    name: 'CRLs in a Secret',
    inputs: fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes): unknown => Buffer.from(bytes)),
      broken.map((bytes): unknown => Buffer.from(pemOf(bytes))),
      fc.jsonValue(),
    ),
    parse: (value) =>
      readAuthoritySecret(
        'cacerts',
        {
          metadata: { name: 'cacerts', resourceVersion: '1' },
          data: {
            'ca-cert.pem': Buffer.from(parts.certificate),
            'ca-key.pem': Buffer.from(parts.key),
            'cert-chain.pem': Buffer.from(parts.chain),
            'root-cert.pem': Buffer.from(parts.roots),
            'ca-crl.pem': value,
          },
        },
        Date.now(),
      ),
    growing: {
      bytes: (size) => Buffer.alloc(size * 2_000, 'A'),
    },
  }),
];
