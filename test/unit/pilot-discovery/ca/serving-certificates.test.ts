import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BehaviorSubject, type Subscription } from 'rxjs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  afterReading,
  type AuthorityState,
  noAuthority,
} from '../../../../src/pilot-discovery/ca/authority-state.ts';
import {
  type ServingCertificate,
  servingCertificates,
} from '../../../../src/pilot-discovery/ca/serving-certificates.ts';
import { signingAuthority } from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { pluggedAuthority } from '../../../support/plugged-authority.ts';

const fail = (error: unknown): never => {
  throw error as Error;
};

const day = 86_400_000;
const names = ['istiod.istio-system.svc', 'localhost', '127.0.0.1'];

async function stateOf(notAfter: number): Promise<AuthorityState> {
  const result = signingAuthority(await pluggedAuthority({ notAfter }), Date.now());
  if (!result.ok) throw new Error(result.reason);
  return afterReading(noAuthority, {
    type: 'authority',
    path: '',
    authority: result.authority,
    crl: { kind: 'absent' },
  });
}

let ready: AuthorityState;
let subscription: Subscription | undefined;
beforeAll(async () => (ready = await stateOf(Date.now() + 30 * day)));
afterEach(() => subscription?.unsubscribe());

function served(first: AuthorityState) {
  const authority$ = new BehaviorSubject(first);
  const certificates: ServingCertificate[] = [];
  subscription = servingCertificates(authority$, names).subscribe({
    next: (certificate) => certificates.push(certificate),
    error: fail,
  });
  return { authority$, certificates };
}

describe('servingCertificates', () => {
  it('makes a certificate with the names, which its root and its key fit', async () => {
    const { certificates } = served(ready);
    await expect.poll(() => certificates).toHaveLength(1);
    const [{ chain, key, roots } = expect.fail()] = certificates;
    const leaf = new X509Certificate(chain);
    expect(leaf.subjectAltName).toBe(
      'DNS:istiod.istio-system.svc, DNS:localhost, IP Address:127.0.0.1',
    );
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(Date.parse(leaf.validTo)).toBeLessThanOrEqual(Date.now() + day);
    expect(ready.type === 'signs' && ready.authority.roots.join('')).toBe(roots);
  });

  it('makes another one if the authority changes, and only then', async () => {
    const { authority$, certificates } = served(noAuthority);
    authority$.next(ready);
    await expect.poll(() => certificates).toHaveLength(1);
    authority$.next(afterReading(ready, { type: 'refused', reason: 'wrong' }));
    authority$.next(ready);
    authority$.next(await stateOf(Date.now() + day));
    await expect.poll(() => certificates).toHaveLength(2);
    expect(certificates[1]?.roots).not.toBe(certificates[0]?.roots);
  });

  it('makes another one, with another key, when half of the lifetime is over', async () => {
    const { certificates } = served(await stateOf(Date.now() + 6_000));
    await expect.poll(() => certificates.length).toBeGreaterThan(1);
    expect(certificates[1]?.key).not.toEqual(certificates[0]?.key);
  });
});
