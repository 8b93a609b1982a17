import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AuthorityParts,
  signingAuthority,
} from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import {
  pluggedAuthority,
  type TestIssuer,
  testIssuer,
} from '../../../support/plugged-authority.ts';

const now = Date.now();
const day = 86_400_000;
let root: TestIssuer;
let parts: AuthorityParts;
beforeAll(async () => {
  root = await testIssuer();
  parts = await pluggedAuthority({}, root);
});

const reasonOf = (changed: Partial<AuthorityParts>, time = now) => {
  const result = signingAuthority({ ...parts, ...changed }, time);
  return result.ok ? 'made' : result.reason;
};

describe('signingAuthority', () => {
  it('finds the way to a root in any order, and drops the root and all others', async () => {
    const [low, stray] = await Promise.all([
      testIssuer({ subject: 'CN=low' }, await testIssuer({ subject: 'CN=unused' })),
      testIssuer({ subject: 'CN=stray' }),
    ]);
    const middle = await testIssuer({ subject: 'CN=middle' }, root);
    const bottom = await testIssuer({ subject: 'CN=bottom' }, middle);
    const result = signingAuthority(
      {
        certificate: bottom.certificate,
        key: bottom.key,
        chain: [stray, low, root, middle, bottom].map(({ certificate }) => certificate).join(''),
        roots: stray.certificate + root.certificate,
      },
      now,
    );
    expect(result.ok && result.authority.intermediates).toEqual([
      bottom.certificate,
      middle.certificate,
    ]);
  });

  it.each<[string, oldRoot: 'is gone' | 'has expired']>([
    ['a certificate that leads nowhere', 'is gone'],
    ['a root that has expired', 'has expired'],
  ])('finds the way through a cross-signed certificate, also behind %s', async (_, oldRoot) => {
    const end = oldRoot === 'has expired' ? now - 1_000 : now + day;
    const before = await testIssuer({ subject: 'CN=before', notAfter: end });
    const ofBefore = await testIssuer({ subject: 'CN=middle' }, before);
    const ofRoot = await testIssuer({ subject: 'CN=middle', sameKeys: ofBefore.keys }, root);
    const bottom = await testIssuer({ subject: 'CN=bottom' }, ofBefore);
    const result = signingAuthority(
      {
        certificate: bottom.certificate,
        key: bottom.key,
        chain: ofBefore.certificate + ofRoot.certificate,
        roots: (oldRoot === 'is gone' ? '' : before.certificate) + root.certificate,
      },
      now,
    );
    expect(result).toMatchObject({
      ok: true,
      authority: { intermediates: [bottom.certificate, ofRoot.certificate] },
    });
  });

  it('looks at each certificate once, if many have signed each other', async () => {
    const first = await testIssuer({ subject: 'CN=m' });
    const several = await Promise.all(
      Array.from({ length: 20 }, () =>
        testIssuer({ subject: 'CN=m', sameKeys: first.keys }, first),
      ),
    );
    const bottom = await testIssuer({ subject: 'CN=bottom' }, first);
    const chain = several.map(({ certificate }) => certificate).join('');
    const { certificate, key } = bottom;
    expect(reasonOf({ certificate, key, chain })).toContain('no chain leads');
  });

  it('needs no chain if a root has signed its certificate', () => {
    const result = signingAuthority({ ...parts, chain: '' }, now);
    expect(result.ok && result.authority.intermediates).toEqual([parts.certificate]);
  });

  it('has no intermediates if its certificate is a root', () => {
    const { certificate, key } = root;
    const result = signingAuthority(
      { certificate, key, chain: certificate, roots: certificate },
      now,
    );
    expect(result.ok && result.authority.intermediates).toEqual([]);
  });

  it('is the same again if its files are the same', async () => {
    const fingerprintOf = (changed: Partial<AuthorityParts>) => {
      const result = signingAuthority({ ...parts, ...changed }, now);
      return result.ok && result.authority.fingerprint;
    };
    const next = await testIssuer({ subject: 'CN=next' });
    expect(fingerprintOf({ roots: `${parts.roots}\n` })).toBe(fingerprintOf({}));
    expect(fingerprintOf({ roots: parts.roots + next.certificate })).not.toBe(fingerprintOf({}));
  });

  it('refuses a key of another certificate', () => {
    expect(reasonOf({ key: root.key })).toContain('the key does not match the certificate');
  });

  it('refuses a root that has not signed its certificate, even with the same name', async () => {
    const other = await testIssuer();
    const reason = 'no chain leads from the certificate (CN=intermediate, serial';
    expect(reasonOf({ chain: '', roots: other.certificate })).toContain(reason);
  });

  it('refuses a certificate that may not sign others, first or on the way', async () => {
    const leaf = await pluggedAuthority({ isCa: false }, root);
    const wrong = await testIssuer({ subject: 'CN=wrong', isCa: false }, root);
    const below = await testIssuer({ subject: 'CN=below' }, wrong);
    expect(reasonOf(leaf)).toContain('may not sign others: it has no CA:TRUE');
    const { certificate, key } = below;
    expect(reasonOf({ certificate, key, chain: wrong.certificate })).toContain('no chain leads');
  });

  it('refuses what is not valid now, first or on the way', async () => {
    const [old, early] = await Promise.all([
      pluggedAuthority({ notAfter: now - 1_000 }, root),
      pluggedAuthority({ notBefore: now + day }, root),
    ]);
    const oldRoot = await testIssuer({ notAfter: now - 1_000 });
    const earlyRoot = await testIssuer({ notBefore: now + day });
    expect(reasonOf(await pluggedAuthority({}, earlyRoot))).toContain(
      'a certificate of the chain is not valid before',
    );
    expect(reasonOf(old)).toContain('the certificate has expired at');
    expect(reasonOf(early)).toContain('the certificate is not valid before');
    expect(reasonOf(await pluggedAuthority({}, oldRoot))).toContain(
      'a certificate of the chain has expired at',
    );
  });

  it('uses the root that lasts longest, if several have the same key', async () => {
    const result = signingAuthority(await pluggedAuthority({}, root), now);
    expect(result.ok && result.authority.notAfter).toBeGreaterThan(now + 99 * day);
  });

  it.each([
    ['no certificate', { certificate: '' }, 'the certificate is empty'],
    ['no key', { key: Buffer.alloc(0) }, 'the key is empty'],
    ['a key that is none', { key: Buffer.from('key') }, 'the key does not parse'],
    ['no roots', { roots: '' }, 'the root is empty'],
    ['roots that are none', { roots: 'roots' }, 'no root certificate is in it'],
  ])('refuses %s', (_, changed, reason) => {
    expect(reasonOf(changed)).toContain(reason);
  });
});
