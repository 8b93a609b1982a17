import { X509Certificate } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { concernsAny, crlVerdict } from '../../../../src/shared/certificates/crl-verdict.ts';
import { parseCrls } from '../../../../src/shared/certificates/parse-crls.ts';
import type { Crl } from '../../../../src/shared/certificates/read-crl.ts';
import { type TestIssuer, testIssuer } from '../../../support/plugged-authority.ts';
import { testCrl } from '../../../support/test-crl.ts';

const hour = 3_600_000;
const end = Math.ceil(Date.now() / 1_000) * 1_000 + hour;
let root: TestIssuer;
let middle: TestIssuer;
let foreign: TestIssuer;
let leaf: TestIssuer;
/** The CRLs of the root and of the intermediate authority. */
let ofRoot: string;
let ofMiddle: string;

beforeAll(async () => {
  root = await testIssuer();
  middle = await testIssuer({ subject: 'CN=middle' }, root);
  leaf = await testIssuer({ subject: 'CN=leaf', isCa: false }, middle);
  foreign = await testIssuer({ subject: 'CN=foreign' });
  ofRoot = await testCrl(root, { to: end });
  ofMiddle = await testCrl(middle, { to: end + hour, revoked: [leaf.certificate] });
});

const certificates = (...issuers: readonly TestIssuer[]) =>
  issuers.map(({ certificate }) => new X509Certificate(certificate));
/** Returns the CRLs in a text, or why they cannot be read. */
function crlsIn(text: string): readonly Crl[] | string {
  const parsed = parseCrls({ kind: 'text', text });
  if (parsed.kind === 'crls') return parsed.crls;
  return parsed.kind === 'absent' ? parsed.kind : parsed.reason;
}
function verdict(text: string, issuers = [root, middle], now = Date.now()) {
  const crls = crlsIn(text);
  return typeof crls === 'string' ? refusal(crls) : crlVerdict(crls, certificates(...issuers), now);
}
const concerns = (text: string, ...issuers: readonly TestIssuer[]) => {
  const crls = crlsIn(text);
  return typeof crls !== 'string' && concernsAny(crls, certificates(...issuers));
};
const refusal = (reason: string) => ({ ok: false, reason });

describe('CRLs', () => {
  it('are used if each authority has one, until the first of them expires', () => {
    expect(verdict(ofRoot + ofMiddle)).toEqual({ ok: true, until: end, revoked: 1 });
    expect(verdict(`text before\n${ofMiddle}${ofRoot}`, [root])).toMatchObject({ until: end });
  });

  it.each(['P-384', 'RSA 2048'] as const)('of a key of the kind %s are used', async (keys) => {
    const other = await testIssuer({ keys });
    expect(verdict(await testCrl(other, { to: undefined }), [other])).toEqual({
      ok: true,
      until: Infinity,
      revoked: 0,
    });
  });

  it('are refused if that of an authority is missing: Envoy would refuse everybody', () => {
    expect(verdict(ofMiddle)).toEqual(refusal('the CRL of the authority CN=root is missing'));
    expect(verdict(ofRoot)).toEqual(refusal('the CRL of the authority CN=middle is missing'));
    expect(verdict(ofRoot + ofMiddle, [root, middle, foreign])).toEqual(
      refusal('the CRL of the authority CN=foreign is missing'),
    );
  });

  it('of an authority that has expired are not needed', async () => {
    const old = await testIssuer({ subject: 'CN=old', notAfter: Date.now() - 1 });
    expect(verdict(ofRoot + ofMiddle, [root, middle, old])).toMatchObject({ ok: true });
  });

  it('of others are not judged', async () => {
    const others = await testCrl(foreign, { to: Date.now() - 1 });
    expect(verdict(ofRoot + others, [root])).toMatchObject({ ok: true, until: end });
  });

  it('are refused 10 s before they expire, and before they begin; a second one may count', async () => {
    const expired = `the CRL of the authority CN=root expires at ${new Date(end).toISOString()}: put a new one in its place`;
    expect(verdict(ofRoot, [root], end - 10_001)).toMatchObject({ ok: true });
    expect(verdict(ofRoot, [root], end - 10_000)).toEqual(refusal(expired));
    const later = await testCrl(root, { from: end, to: end + hour });
    expect(verdict(ofRoot + later, [root], end - 10_000)).toEqual(refusal(expired));
    expect(verdict(ofRoot + later, [root], end)).toMatchObject({ ok: true, until: end + hour });
    expect(verdict(later, [root], end - 1)).toEqual(
      refusal(
        `the CRL of the authority CN=root is not valid before ${new Date(end).toISOString()}`,
      ),
    );
  });

  it('are refused if another key has signed them, or the authority may not sign CRLs', async () => {
    const twin = await testIssuer();
    expect(verdict(await testCrl(twin, { hasKeyId: false }), [root])).toEqual(
      refusal('a CRL of the authority CN=root is not signed by its key'),
    );
    const mute = await testIssuer({ mayRevoke: false });
    expect(verdict(await testCrl(mute), [mute])).toEqual(
      refusal('the key usage of the authority CN=root does not allow it to sign a CRL (cRLSign)'),
    );
  });

  it('of two authorities of one name need the identifier of the key', async () => {
    const twin = await testIssuer();
    const both = [root, twin];
    expect(verdict(ofRoot, both)).toEqual(refusal('the CRL of the authority CN=root is missing'));
    expect(verdict(ofRoot + (await testCrl(twin)), both)).toMatchObject({ ok: true });
    expect(verdict(ofRoot + (await testCrl(twin, { hasKeyId: false })), both)).toEqual(
      refusal(
        'several authorities have the name CN=root, and its CRL has no identifier of the key',
      ),
    );
  });

  it.each([
    ['', 'absent'],
    [' \n', 'absent'],
    ['x', 'it has no X509 CRL'],
    ['-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----', 'an X509 CRL does not parse'],
    ['-----BEGIN X509 CRL-----\nMAAA\n', 'an X509 CRL does not parse'],
    ['x'.repeat((1 << 20) + 1), 'it has more than 1048576 characters'],
  ])('are refused if they cannot be read', (text, reason) => {
    expect(verdict(text)).toEqual(refusal(reason));
  });

  it('with a critical extension are refused', async () => {
    expect(verdict(await testCrl(root, { hasCritical: true }), [root])).toEqual(
      refusal('an X509 CRL has a critical extension, which Envoy does not take'),
    );
  });

  it('name the authorities that they concern', () => {
    expect(concerns(ofRoot, foreign, root)).toBe(true);
    expect(concerns(ofRoot, foreign)).toBe(false);
  });

  it('of openssl are used', () => {
    const folder = mkdtempSync(join(tmpdir(), 'crl-'));
    try {
      writeFileSync(join(folder, 'root.pem'), root.certificate);
      writeFileSync(join(folder, 'root-key.pem'), root.key);
      writeFileSync(join(folder, 'index.txt'), '');
      writeFileSync(
        join(folder, 'ca.cnf'),
        '[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ndefault_md=sha256\ndefault_crl_days=1\n',
      );
      const openssl = (...more: readonly string[]) =>
        execFileSync(
          'openssl',
          ['ca', '-config', 'ca.cnf', '-cert', 'root.pem', '-keyfile', 'root-key.pem', ...more],
          { cwd: folder, stdio: 'pipe' },
        );
      writeFileSync(join(folder, 'leaf.pem'), middle.certificate);
      openssl('-revoke', 'leaf.pem');
      openssl('-gencrl', '-out', 'crl.pem');
      const text = readFileSync(join(folder, 'crl.pem'), 'utf8');
      expect(verdict(text, [root])).toMatchObject({ ok: true, revoked: 1 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
