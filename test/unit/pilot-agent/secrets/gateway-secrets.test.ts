import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../../../demo/certificates.ts';
import { fileSecrets } from '../../../../src/pilot-agent/secrets/file-secrets.ts';
import {
  gatewayFolder,
  gatewaySecrets,
} from '../../../../src/pilot-agent/secrets/gateway-secrets.ts';
import { keepServed } from '../../../../src/pilot-agent/secrets/keep-served.ts';
import type { SecretState } from '../../../../src/pilot-agent/secrets/secret.ts';
import { eventually } from '../../../support/eventually.ts';

describe('secrets of a gateway in a folder', () => {
  let folder: string;
  let ca: CertificateAuthority;
  const subscriptions: Subscription[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-'));
    ca = await certificateAuthority();
  });
  afterEach(() => {
    for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    rmSync(folder, { recursive: true });
  });

  const put = (name: string, data: Readonly<Record<string, string>>) => {
    mkdirSync(join(folder, name), { recursive: true });
    for (const [key, text] of Object.entries(data)) writeFileSync(join(folder, name, key), text);
  };
  const tls = ({ certChain, key }: Issued) => ({ 'tls.crt': certChain, 'tls.key': key });
  /** Follows a secret as long as the test runs. */
  const follow = (name: string) => {
    const gatewaySecret = gatewaySecrets(
      gatewayFolder(folder, { files: (paths) => fileSecrets(paths) }),
    )(name);
    if (gatewaySecret?.ok !== true) throw new Error(`${name} can be no secret`);
    let last: SecretState | undefined;
    const next = (state: SecretState) => (last = state);
    const error = (thrown: unknown) => {
      throw thrown;
    };
    subscriptions.push(
      gatewaySecret.set$.pipe(keepServed(name, gatewaySecret.kind)).subscribe({ next, error }),
    );
    const text = () =>
      last?.served?.secret.kind === 'pair' ? last.served.secret.chain : last?.served?.secret.roots;
    return {
      serves: (expected: string) => expect.poll(text).toBe(expected),
      text,
      refused: () => eventually(() => last?.refused),
    };
  };

  it('a generic one (cert, key, cacert) is a pair and roots', async () => {
    const issued = await ca.issue();
    put('shop', { cert: issued.certChain, key: issued.key, cacert: ca.rootCert });
    await follow('shop').serves(issued.certChain);
    await follow('shop-cacert').serves(ca.rootCert);
  });

  it('one of TLS (tls.crt, tls.key) is a pair, without roots; with ca.crt it has them', async () => {
    const issued = await ca.issue();
    put('shop', tls(issued));
    await follow('shop').serves(issued.certChain);
    const roots = follow('shop-cacert');
    expect(await roots.refused()).toContain('no root is there');
    put('shop', { 'ca.crt': ca.rootCert });
    await roots.serves(ca.rootCert);
  });

  it('roots may be a secret of their own', async () => {
    put('shop', tls(await ca.issue()));
    put('shop-cacert', { cacert: ca.rootCert });
    await follow('shop-cacert').serves(ca.rootCert);
  });

  it('the fallback is served until there is the one that is wanted; an update is served, and what vanishes is served on', async () => {
    const [fallback, first, second] = [await ca.issue(), await ca.issue(), await ca.issue()];
    put('gateway-fallback', tls(fallback));
    const shop = follow('shop');
    await shop.serves(fallback.certChain);
    put('shop', tls(first));
    await shop.serves(first.certChain);
    put('shop', tls(second));
    await shop.serves(second.certChain);
    rmSync(join(folder, 'shop'), { recursive: true });
    expect(await shop.refused()).toBeDefined();
    expect(shop.text()).toBe(second.certChain);
  });

  it('the fallback is served until a secret that has only roots has a pair', async () => {
    const [fallback, issued] = [await ca.issue(), await ca.issue()];
    put('gateway-fallback', tls(fallback));
    put('shop', { 'ca.crt': ca.rootCert });
    const shop = follow('shop');
    await shop.serves(fallback.certChain);
    put('shop', tls(issued));
    await shop.serves(issued.certChain);
  });

  it('a generic pair (cert, key) may be beside ca.crt', async () => {
    const issued = await ca.issue();
    put('shop', { cert: issued.certChain, key: issued.key, 'ca.crt': ca.rootCert });
    await follow('shop').serves(issued.certChain);
    await follow('shop-cacert').serves(ca.rootCert);
  });

  it('a secret with only roots is no pair, and says so', async () => {
    put('shop', { 'ca.crt': ca.rootCert });
    expect(await follow('shop').refused()).toContain('shop/tls');
  });

  it('one that is not there holds nobody up, and is told of', async () => {
    expect(await follow('unknown').refused()).toContain(join(folder, 'unknown', 'tls.crt'));
  });

  it.each([
    '../shop',
    'shop/../..',
    'a..b',
    '.',
    '/etc',
    'Shop',
    'istio.default',
    'prometheus-x',
    '',
  ])('a name such as %s is none', (name) => {
    expect(
      gatewaySecrets(gatewayFolder(folder, { files: (paths) => fileSecrets(paths) }))(name),
    ).toBeUndefined();
  });
});
