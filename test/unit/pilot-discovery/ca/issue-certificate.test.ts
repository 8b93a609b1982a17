import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateRequest } from '../../../../src/pilot-agent/secrets/ca/certificate-request.ts';
import { der, derElements } from '../../../../src/shared/certificates/der.ts';
import {
  type CertificateOrder,
  issueCertificate,
  type IssuedCertificate,
} from '../../../../src/pilot-discovery/ca/issue-certificate.ts';
import { largestCsr, readRequest } from '../../../../src/pilot-discovery/ca/read-request.ts';
import {
  type AuthorityParts,
  type SigningAuthority,
  signingAuthority,
} from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { modelRuns } from '../../../support/model-runs.ts';
import { pluggedAuthority, testIssuer } from '../../../support/plugged-authority.ts';
import { csrPem, goodKeys, testCsr } from '../../../support/test-csr.ts';

const hour = 3_600_000;
const day = 24 * hour;
const lifetimes = { usual: day, longest: 90 * day };
const now = Date.now();
const caller = { trustDomain: 'cluster.local', namespace: 'shop', serviceAccount: 'cart' };
const name = 'spiffe://cluster.local/ns/shop/sa/cart';
const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-ca-'));
afterAll(() => rmSync(folder, { recursive: true }));

const csr = csrPem(testCsr(...goodKeys['P-256']));
const authorities = new Map<string, SigningAuthority>();

function authorityOf(parts: AuthorityParts): SigningAuthority {
  const result = signingAuthority(parts, now);
  if (!result.ok) throw new Error(result.reason);
  return result.authority;
}

beforeAll(async () => {
  const root = await testIssuer({ keys: 'RSA 2048' });
  const alone = { certificate: root.certificate, key: root.key, chain: '' };
  authorities.set('a root', authorityOf({ ...alone, roots: root.certificate }));
  for (const keys of ['P-256', 'P-384', 'RSA 2048'] as const)
    authorities.set(
      `an intermediate, ${keys}`,
      authorityOf(await pluggedAuthority({ keys }, root)),
    );
});

const usual = (): SigningAuthority =>
  authorities.get('an intermediate, P-256') ?? expect.fail('no authority');

const issue = (order: Partial<CertificateOrder> = {}, authority = usual(), time = now) =>
  issueCertificate(authority, { csr, caller, validity: 3_600n, ...order }, lifetimes, time);

function good(issued: IssuedCertificate) {
  if (!issued.ok) throw new Error(issued.refusal.reason);
  return { ...issued, leaf: new X509Certificate(issued.chain[0] ?? '') };
}

const kindOf = (issued: IssuedCertificate) => (issued.ok ? 'issued' : issued.refusal.kind);

/** Returns the verdict of OpenSSL on a chain, whose last text contains the roots. */
function verdict(chain: readonly string[]): string {
  const [leaf = '', ...others] = chain;
  const files = { leaf, untrusted: others.slice(0, -1).join(''), roots: others.at(-1) ?? '' };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const untrusted = files.untrusted === '' ? [] : ['-untrusted', 'untrusted'];
  const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'roots'];
  return execFileSync('openssl', [...args, ...untrusted, 'leaf'], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
}

describe('issueCertificate', () => {
  it.each([
    'a root',
    'an intermediate, P-256',
    'an intermediate, P-384',
    'an intermediate, RSA 2048',
  ])('issues a chain that OpenSSL verifies: by %s', async (kind) => {
    const authority = authorities.get(kind) ?? expect.fail();
    const { chain } = good(await issue({}, authority));
    expect(verdict(chain)).toBe('leaf: OK');
    expect(chain).toHaveLength(kind === 'a root' ? 2 : 3);
  });

  it.each(Object.keys(goodKeys))('certifies a key of %s', async (kind) => {
    const [pair, signature] = goodKeys[kind as keyof typeof goodKeys];
    const { leaf } = good(await issue({ csr: csrPem(testCsr(pair, signature)) }));
    expect(leaf.publicKey.equals(pair.publicKey)).toBe(true);
  });

  it('names the caller, whatever the request says', async () => {
    const request = await certificateRequest('spiffe://cluster.local/ns/kube-system/sa/admin', {
      algorithm: 'RSA',
      pkcs8: true,
    });
    const { leaf, name: issuedName } = good(await issue({ csr: request.csr }));
    expect([leaf.subjectAltName, issuedName]).toEqual([`URI:${name}`, name]);
    expect(leaf.subject).toBeUndefined();
  });

  it('has the extensions of istiod', async () => {
    const { chain } = good(await issue());
    writeFileSync(join(folder, 'leaf'), chain[0] ?? '');
    const text = execFileSync('openssl', ['x509', '-in', 'leaf', '-noout', '-text'], {
      cwd: folder,
      encoding: 'utf8',
    });
    for (const part of [
      /Key Usage: critical\s+Digital Signature, Key Encipherment\n/,
      /Extended Key Usage: ?\n\s+TLS Web Server Authentication, TLS Web Client Authentication\n/,
      /Basic Constraints: critical\s+CA:FALSE\n/,
      /Authority Key Identifier: ?\n\s+(?:keyid:)?[0-9A-F:]{59}\n/,
      /Subject Alternative Name: critical\s+URI:spiffe:\/\/cluster.local\/ns\/shop\/sa\/cart\n/,
    ])
      expect(text).toMatch(part);
  });

  it('has a random serial of 128 bits, which it returns as OpenSSL prints it', async () => {
    const issued = await Promise.all(Array.from({ length: 40 }, () => issue()));
    const serials = issued.map((certificate) => {
      const { leaf, serialNumber } = good(certificate);
      expect(serialNumber).toBe(leaf.serialNumber);
      return BigInt(`0x${serialNumber}`);
    });
    expect(new Set(serials).size).toBe(40);
    expect(serials.some((serial) => serial >= 2n ** 124n)).toBe(true);
    expect(serials.every((serial) => serial > 0n && serial < 2n ** 128n)).toBe(true);
  });

  it('takes the subject of the authority byte by byte', async () => {
    const subject = Buffer.from('3011310f300d06035504031e06006100620063', 'hex'); // CN=abc, as a BMPString
    const { leaf, chain } = good(
      await issue({}, authorityOf(await pluggedAuthority({ subject: new Uint8Array(subject) }))),
    );
    expect(leaf.raw.includes(subject)).toBe(true);
    expect(verdict(chain)).toBe('leaf: OK');
  });

  it('begins 15 minutes earlier, for slow clocks', async () => {
    const { leaf } = good(await issue());
    expect(Date.parse(leaf.validFrom)).toBe(Math.floor((now - 15 * 60_000) / 1_000) * 1_000);
  });

  it.each([
    ['the time that is asked for', 3_600n, hour],
    ['24 hours if none is', 0n, day],
    ['24 hours if it is negative', -5n, day],
    ['90 days at most', 90n * 86_400n, 90 * day],
  ])('lasts %s', async (_, validity, expected) => {
    const { leaf, notAfter } = good(await issue({ validity }));
    expect(notAfter).toBe(Math.floor((now + expected) / 1_000) * 1_000);
    expect(Date.parse(leaf.validTo)).toBe(notAfter);
  });

  it.each([90n * 86_400n + 1n, 2n ** 63n - 1n])('refuses a lifetime of %s s', async (validity) => {
    expect(kindOf(await issue({ validity }))).toBe('lifetime');
  });

  it('ends no later than any certificate of its chain', async () => {
    const early = now + 10 * hour + 1_500;
    const end = Math.floor(early / 1_000) * 1_000;
    const root = await testIssuer({ notAfter: early });
    const byIntermediate = authorityOf(await pluggedAuthority({ notAfter: early }));
    const byRoot = authorityOf(await pluggedAuthority({}, root));
    for (const authority of [byIntermediate, byRoot]) {
      const { leaf } = good(await issue({ validity: 0n }, authority));
      expect(Date.parse(leaf.validTo)).toBe(end);
      expect(kindOf(await issue({}, authority, end - 1))).toBe('issued');
      expect(kindOf(await issue({}, authority, end))).toBe('authority');
    }
  });

  it('refuses before its authority begins', async () => {
    expect(kindOf(await issue({}, usual(), usual().notBefore - 1))).toBe('authority');
  });

  it.each([
    { trustDomain: '' },
    { trustDomain: 'a/ns/kube-system' },
    { namespace: 'shop/sa/admin' },
    { namespace: '..' },
    { serviceAccount: '' },
    { serviceAccount: '.' },
    { serviceAccount: 'cart?x' },
    { serviceAccount: 'cart\n' },
    { serviceAccount: 'ca%2Frt' },
    { serviceAccount: 'x'.repeat(254) },
  ])('refuses a caller whose name could mean another one: %j', async (part) => {
    expect(kindOf(await issue({ caller: { ...caller, ...part } }))).toBe('identity');
  });

  it('sends all roots in the last text of the chain', async () => {
    const [root, next] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=next' })]);
    const parts = await pluggedAuthority({}, root);
    const roots = next.certificate + root.certificate + root.certificate;
    const { chain } = good(await issue({}, authorityOf({ ...parts, roots })));
    expect(chain.at(-1)).toBe(next.certificate + root.certificate);
    expect(verdict(chain)).toBe('leaf: OK');
  });
});

const reasonOf = async (pem: string) => {
  const read = await readRequest(pem);
  return read.ok ? 'read' : read.reason;
};

describe('readRequest', () => {
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    testCsr(generateKeyPairSync('rsa', { modulusLength, publicExponent }), 'RSA SHA-256');
  const ec = (namedCurve: string) =>
    testCsr(generateKeyPairSync('ec', { namedCurve }), 'ECDSA SHA-256');
  const [rsaKeys] = goodKeys['RSA 2048'];

  it.each([
    ['RSA with 1024 bits', rsa(1024), 'is of RSA with 1024 bits'],
    ['P-224', ec('secp224r1'), 'is of the curve secp224r1'],
    ['secp256k1', ec('secp256k1'), 'is of the curve secp256k1'],
    ['Ed448', testCsr(generateKeyPairSync('ed448'), 'Ed448'), 'is of the type ed448'],
    ['a signature with SHA-1', testCsr(rsaKeys, 'RSA SHA-1'), 'its signature is not one of'],
    ['a signature with MD5', testCsr(rsaKeys, 'RSA MD5'), 'its signature is not one of'],
  ])('refuses %s', async (_, bytes, reason) => {
    expect(await reasonOf(csrPem(bytes))).toContain(reason);
  });

  it('refuses a key of RSA with an exponent of 1, for which anyone can sign', async () => {
    const bytes = testCsr(rsaKeys, 'RSA SHA-256');
    const place = bytes.indexOf(Buffer.from('0203010001', 'hex'));
    const changed = Buffer.from(bytes);
    changed.set([0x02, 0x03, 0x00, 0x00, 0x01], place);
    expect(await reasonOf(csrPem(changed))).not.toBe('read');
    changed.set([0x02, 0x03, 0x01, 0x00, 0x00], place);
    expect(await reasonOf(csrPem(changed))).toMatch(/public exponent|cannot be read/);
  });

  it('refuses a request with something after it, or with one more part', async () => {
    const bytes = testCsr(...goodKeys['P-256']);
    const { content = Buffer.of() } = derElements(bytes)?.[0] ?? {};
    for (const more of [
      Buffer.concat([bytes, der(0x05)]),
      der(0x30, content, der(0x05)),
      der(0x30, ...(derElements(content) ?? []).slice(0, 2).map((part) => part.bytes)),
    ])
      expect(await reasonOf(csrPem(more))).toBe('it is not a certificate request (PKCS#10) in DER');
    expect(await reasonOf(csrPem(der(0x30, content)))).toBe('read');
  });

  it('refuses a request that another key has signed', async () => {
    const [{ publicKey }] = goodKeys['P-256'];
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const stolen = testCsr({ publicKey, privateKey }, 'ECDSA SHA-256');
    expect(await reasonOf(csrPem(stolen))).toBe('it is not signed by its key');
  });

  it('refuses more than 16 KiB before it reads them', async () => {
    expect(await reasonOf(csr + ' '.repeat(largestCsr))).toMatch(
      /^it has \d+ bytes, and the limit is 16384/,
    );
    expect(await reasonOf(csr.padEnd(largestCsr))).toBe('read');
  });

  it.each([
    ['text around it', `key\n${csr}\nend`],
    ['lines that end with CR and LF', csr.replaceAll('\n', '\r\n')],
    ['the label of old OpenSSL', csr.replaceAll('CERTIFICATE REQ', 'NEW CERTIFICATE REQ')],
  ])('reads a request with %s, as istiod does', async (_, pem) => {
    expect(await reasonOf(pem)).toBe('read');
  });

  it.each([
    ['nothing', ''],
    ['another text', 'a request'],
    ['a request without its end', csr.replace(/-----END.*\n/, '')],
    ['a certificate', csr.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')],
  ])('refuses %s', async (_, pem) => {
    expect(await reasonOf(pem)).toBe('it is not PEM of a CERTIFICATE REQUEST');
  });

  it('refuses each request in which a byte has changed', async () => {
    const whole = testCsr(...goodKeys['P-256']);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (place, by) => {
          const changed = Buffer.from(whole);
          changed[place] = (changed[place] ?? 0) ^ by;
          expect(await reasonOf(csrPem(changed))).toMatch(/^it/);
        },
      ),
      { numRuns: modelRuns(300) },
    );
  });

  it('refuses all other bytes, cut or grown, with a reason', async () => {
    const whole = testCsr(...goodKeys['P-256']);
    const mixed = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(whole.length - 1).map((length) => whole.subarray(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 20 }).map((more) => Buffer.concat([whole, more])),
      fc.nat(6_000).map((levels) => Buffer.from('3080'.repeat(levels), 'hex')),
    );
    await fc.assert(
      fc.asyncProperty(mixed, async (bytes) => {
        expect(await reasonOf(csrPem(bytes))).toMatch(/^it/);
      }),
      { numRuns: modelRuns(200) },
    );
  });

  it('takes any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (text) => {
        expect(await reasonOf(text)).toMatch(/^it/);
      }),
      { numRuns: modelRuns(100) },
    );
  });
});
