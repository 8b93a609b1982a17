import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  asyncScheduler,
  lastValueFrom,
  type Observable,
  toArray,
  VirtualTimeScheduler,
} from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../demo/certificates.ts';
import type { Verdict } from '../../../src/epochs/ports.ts';
import { checkPairs, type KeyPair } from '../../../src/proxy/preflight.ts';

describe('checkPairs', () => {
  let folder: string;
  let good: Issued;
  let other: Issued;

  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const pair = (name: string): KeyPair => ({
    chain: join(folder, `${name}.pem`),
    key: join(folder, `${name}.key`),
  });
  const all = (verdict$: Observable<Verdict>) =>
    lastValueFrom(verdict$.pipe(toArray()), { defaultValue: [] });
  const check = (...pairs: readonly KeyPair[]) => all(checkPairs(pairs, asyncScheduler));

  beforeAll(async () => {
    const ca = await certificateAuthority();
    [good, other] = await Promise.all([ca.issue(), ca.issue()]);
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'check-pairs-'));
    put('a.pem', good.certChain);
    put('a.key', good.key);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('accepts, once, if there is nothing to check', async () => {
    expect(await check()).toEqual([{ kind: 'works' }]);
  });

  it('accepts a good pair, beside one of which nothing is there', async () => {
    expect(await check(pair('a'), pair('missing'))).toEqual([{ kind: 'works' }]);
  });

  it('refuses a pair whose key is still missing', async () => {
    put('b.pem', other.certChain);
    expect(await check(pair('a'), pair('b'))).toEqual([
      { kind: 'refused', reason: `${join(folder, 'b.key')}: the key is missing` },
    ]);
  });

  it('refuses a pair whose certificate is still missing', async () => {
    put('b.key', other.key);
    expect(await check(pair('a'), pair('b'))).toEqual([
      { kind: 'refused', reason: `${join(folder, 'b.pem')}: the certificate is missing` },
    ]);
  });

  it('refuses by the first pair that has a flaw', async () => {
    put('b.pem', other.certChain);
    put('b.key', good.key);
    put('c.pem', 'garbage');
    put('c.key', 'garbage');
    expect(await check(pair('b'), pair('c'))).toEqual([
      {
        kind: 'refused',
        reason: expect.stringContaining(
          `${join(folder, 'b.pem')}, ${join(folder, 'b.key')}: the key does not match the certificate (`,
        ) as string,
      },
    ]);
  });

  it('says of what can not be read why', async () => {
    mkdirSync(join(folder, 'b.pem'));
    put('b.key', other.key);
    expect(await check(pair('b'))).toEqual([
      {
        kind: 'refused',
        reason: `${join(folder, 'b.pem')}: the certificate cannot be read: it is a directory, and not a regular file`,
      },
    ]);
  });

  it('asks the scheduler what time it is', async () => {
    const in1970 = new VirtualTimeScheduler();
    const [verdict] = await all(checkPairs([pair('a')], in1970));
    expect(verdict).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('not valid before') as string,
    });
  });

  it('reads anew for each subscription', async () => {
    const verdict$ = checkPairs([pair('a')], asyncScheduler);
    expect(await all(verdict$)).toEqual([{ kind: 'works' }]);
    put('a.key', other.key);
    expect(await all(verdict$)).toMatchObject([{ kind: 'refused' }]);
  });
});
