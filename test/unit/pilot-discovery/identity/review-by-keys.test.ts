import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { asyncScheduler, firstValueFrom, NEVER, of } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { bearerToken } from '../../../../src/pilot-discovery/identity/bearer-token.ts';
import type { CallerIdentity } from '../../../../src/pilot-discovery/identity/caller-identity.ts';
import { reviewByIssuer } from '../../../../src/pilot-discovery/identity/review-by-issuer.ts';
import {
  type IssuerKeys,
  reviewByKeys,
} from '../../../../src/pilot-discovery/identity/review-by-keys.ts';
import type { ReviewToken } from '../../../../src/pilot-discovery/identity/review-token.ts';
import { tokenKeys } from '../../../../src/pilot-discovery/istio/security/token-keys.ts';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const ed25519 = generateKeyPairSync('ed25519');
const names = { issuer: 'https://issuer.test', audiences: ['machines', 'istio-ca'] };
const web = { iss: names.issuer, sub: 'system:serviceaccount:shop:web', aud: 'machines' };
const now = Math.floor(Date.now() / 1_000);
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns keys as the control plane has them after it fetched them. */
function keysOf(...pairs: readonly (readonly [Pair, string?])[]): string {
  const keys = pairs.map(([{ publicKey }, kid]) => ({
    ...publicKey.export({ format: 'jwk' }),
    ...(kid !== undefined && { kid }),
  }));
  const read = tokenKeys(JSON.stringify({ keys }));
  if (!read.ok) throw new Error(read.reason);
  return read.keys;
}

const sign = (
  { privateKey }: Pair,
  alg: string,
  claims: Readonly<Record<string, unknown>> = {},
  kid?: string,
) =>
  new SignJWT({ exp: now + 60, ...web, ...claims })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
    .sign(privateKey);

async function review(by$: ReviewToken, token: string): Promise<CallerIdentity | string> {
  const bearer = bearerToken([`Bearer ${token}`]);
  if (bearer.type !== 'token') return bearer.type;
  const proof = { ...bearer, address: '10.0.0.1:1', trustDomain: 'mesh' };
  return firstValueFrom(by$(proof), { defaultValue: 'nothing' });
}

describe('the keys of an issuer', () => {
  let missed: number;
  const keysAre = (keys: string): IssuerKeys => ({
    keys$: of({ ok: true, keys }),
    missed: () => (missed += 1),
  });
  const by = (keys: string) => reviewByKeys(names, keysAre(keys), asyncScheduler);
  const all = keysOf([rsa, 'rsa'], [p256, 'p256'], [p384, 'p384'], [ed25519, 'ed']);
  const caller = { trustDomain: 'mesh', namespace: 'shop', serviceAccount: 'web' };
  beforeEach(() => (missed = 0));

  it.each<[string, Pair, string]>([
    ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg): [string, Pair, string] => [
      alg,
      rsa,
      'rsa',
    ]),
    ['ES256', p256, 'p256'],
    ['ES384', p384, 'p384'],
    ['EdDSA', ed25519, 'ed'],
  ])('verify a token with %s', async (alg, pair, kid) => {
    expect(await review(by(all), await sign(pair, alg, {}, kid))).toEqual({ ok: true, caller });
  });

  it('verify a token without kid, if one of them has signed it', async () => {
    const keys = keysOf([other], [rsa]);
    expect(await review(by(keys), await sign(rsa, 'RS256'))).toEqual({ ok: true, caller });
    expect(await review(by(keysOf([other], [other])), await sign(rsa, 'RS256'))).toMatchObject({
      fault: 'unauthenticated',
      reason: expect.stringMatching(/signature verification failed/) as string,
    });
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'has expired',
      { exp: now - 11 },
      /"exp" claim timestamp.*; the clock of the control plane says 2/,
    ],
    ['has no end', { exp: undefined }, /"exp" claim/],
    ['has an end that is a text', { exp: 'tomorrow' }, /"exp" claim/],
    [
      'is not valid yet',
      { nbf: now + 60 },
      /"nbf" claim timestamp.*; the clock of the control plane says 2/,
    ],
    ['is for another audience', { aud: ['x', 'machine'] }, /unexpected "aud"/],
    ['has no audience', { aud: undefined }, /"aud" claim/],
    ['is of another issuer', { iss: 'https://issuer.test/' }, /unexpected "iss"/],
    ['is of no account', { sub: undefined }, /"sub" claim/],
    ['is of a user', { sub: 'web' }, /of no service account: 'web'/],
    ['has one part more', { sub: `${web.sub}:x` }, /of no service account/],
    ['has the prefix only', { sub: 'system:serviceaccount' }, /of no service account/],
  ])('refuse a token that %s', async (_, claims, reason) => {
    expect(await review(by(all), await sign(rsa, 'RS256', claims, 'rsa'))).toMatchObject({
      ok: false,
      fault: 'unauthenticated',
      reason: expect.stringMatching(reason) as string,
    });
  });

  it('accept the clock of an issuer that is 10 s off', async () => {
    const claims = { exp: now - 5, nbf: now + 5 };
    expect(await review(by(all), await sign(rsa, 'RS256', claims, 'rsa'))).toMatchObject({
      ok: true,
    });
  });

  it('refuse a token without a signature, or with one that needs no private key', async () => {
    const content = (header: object) => `${part(header)}.${part({ ...web, exp: now + 60 })}`;
    const none = content({ alg: 'none' });
    expect(await review(by(all), `${none}.`)).toBe('refused');
    expect(await review(by(all), `${none}.e30`)).toMatchObject({ fault: 'unauthenticated' });
    const hmac = content({ alg: 'HS256', kid: 'rsa' });
    for (const secret of [
      rsa.publicKey.export({ type: 'spki', format: 'pem' }),
      JSON.stringify(rsa.publicKey.export({ format: 'jwk' })),
    ]) {
      const signature = createHmac('sha256', secret).update(hmac).digest('base64url');
      expect(await review(by(all), `${hmac}.${signature}`)).toMatchObject({
        fault: 'unauthenticated',
      });
    }
    const oct = JSON.stringify({ keys: [{ kty: 'oct', kid: 'k', k: 'c2VjcmV0' }] });
    const byOct = content({ alg: 'HS256', kid: 'k' });
    const signature = createHmac('sha256', 'secret').update(byOct).digest('base64url');
    expect(await review(by(oct), `${byOct}.${signature}`)).toMatchObject({
      fault: 'unauthenticated',
    });
  });

  it('refuse a token of another key, and of a curve that is not that of its algorithm', async () => {
    expect(await review(by(all), await sign(other, 'RS256', {}, 'rsa'))).toMatchObject({
      fault: 'unauthenticated',
    });
    const [head = '', ...rest] = (await sign(p256, 'ES256', {}, 'p256')).split('.');
    const changed = part({
      ...JSON.parse(Buffer.from(head, 'base64url').toString()),
      alg: 'RS256',
    });
    expect(await review(by(all), [changed, ...rest].join('.'))).toMatchObject({
      fault: 'unauthenticated',
    });
    expect(missed).toBe(1); // there is no such key for RS256
  });

  it('are fetched again if a token names one that is missing', async () => {
    expect(await review(by(all), await sign(rsa, 'RS256', {}, 'new'))).toMatchObject({
      fault: 'unauthenticated',
    });
    expect(missed).toBe(1);
    expect(await review(by(all), await sign(rsa, 'RS256', {}, 'rsa'))).toMatchObject({ ok: true });
    expect(missed).toBe(1);
  });

  it('that are not there let nobody in', async () => {
    const token = await sign(rsa, 'RS256', {}, 'rsa');
    const missing = () => undefined;
    const failed = { keys$: of({ ok: false, reason: '503' } as const), missed: missing };
    expect(await review(reviewByKeys(names, failed, asyncScheduler), token)).toEqual({
      ok: false,
      fault: 'unavailable',
      reason: expect.stringMatching(/no keys of https:\/\/issuer.test: 503/) as string,
    });
    const late = { keys$: NEVER, missed: missing };
    expect(await review(reviewByKeys(names, late, asyncScheduler), token)).toMatchObject({
      fault: 'unavailable',
      reason: expect.stringMatching(/none within 5 s/) as string,
    });
  });

  it('judge the tokens of their issuer alone', async () => {
    const yes$: ReviewToken = () => of({ ok: true, caller });
    const self = await sign(other, 'RS256', {}, 'rsa');
    const foreign = await sign(other, 'RS256', { iss: 'https://cluster' });
    const both$ = reviewByIssuer(names.issuer, by(all), yes$);
    expect(await review(both$, self)).toMatchObject({ fault: 'unauthenticated' });
    expect(await review(both$, foreign)).toMatchObject({ ok: true });
    const alone$ = reviewByIssuer(names.issuer, by(all), undefined);
    expect(await review(alone$, foreign)).toMatchObject({
      fault: 'unauthenticated',
      reason: 'only tokens of the issuer https://issuer.test are accepted',
    });
  });
});
