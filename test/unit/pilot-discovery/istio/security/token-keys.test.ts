import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  nobodysKeys,
  tokenKeys,
} from '../../../../../src/pilot-discovery/istio/security/token-keys.ts';

interface Keys {
  readonly keys: readonly Readonly<Record<string, string>>[];
}

const [nobodys] = (JSON.parse(nobodysKeys) as Keys).keys;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const curve = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
const edwards = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const shared = { kty: 'oct', k: 'AQAB' };

/** Returns the keys that Envoy receives for one key, and why no token is valid. */
function envoyKeys(key: unknown) {
  const read = tokenKeys(JSON.stringify({ keys: [key] }));
  return read.ok ? { keys: (JSON.parse(read.keys) as Keys).keys, noToken: read.noToken } : read;
}

describe('the keys of an issuer', () => {
  it.each([
    ['RSA', rsa.publicKey.export({ format: 'jwk' })],
    [
      'RSA with an algorithm',
      { ...rsa.publicKey.export({ format: 'jwk' }), alg: 'PS256', kid: 'a' },
    ],
    ['EC, P-256', curve('P-256')],
    ['EC, P-384', curve('P-384')],
    ['EC, P-521', { ...curve('P-521'), alg: 'ES512' }],
    ['Ed25519', edwards],
    ['a shared one', shared],
    ['a shared one with an algorithm', { ...shared, alg: 'HS384' }],
  ])('are told as they are: %s', (_, key) => {
    expect(envoyKeys(key)).toEqual({ keys: [key], noToken: undefined });
  });

  it('are told without what is of no use to Envoy, as a private half', () => {
    const { d, ...others } = rsa.privateKey.export({ format: 'jwk' });
    const key = { ...others, d, kid: 1, use: 'sig', x5c: ['a'], toString: 'a' };
    expect(envoyKeys(key)).toEqual({
      keys: [rsa.publicKey.export({ format: 'jwk' })],
      noToken: undefined,
    });
  });

  it('are told with a name that Envoy can decode', () => {
    expect(envoyKeys({ ...shared, kid: '\ud800' })).toMatchObject({ keys: [shared] });
    expect(envoyKeys({ ...shared, kid: 'ä' })).toMatchObject({ keys: [{ ...shared, kid: 'ä' }] });
  });

  it.each([
    ['a curve that Envoy does not know', { kty: 'EC', crv: 'P-1', x: 'AQAB', y: 'AQAB' }],
    ['a point that is not on its curve', { ...curve('P-256'), x: 'AQAB' }],
    ['an algorithm of another curve', { ...curve('P-256'), alg: 'ES384' }],
    ['RSA that is too short', { kty: 'RSA', e: 'AQAB', n: 'AQAB' }],
    ['RSA for something else', { ...rsa.publicKey.export({ format: 'jwk' }), alg: 'RSA-OAEP' }],
    ['RSA with an even exponent', { ...rsa.publicKey.export({ format: 'jwk' }), e: 'Ag' }],
    ['X25519', { kty: 'OKP', crv: 'X25519', x: edwards.x }],
    ['a shared one with padding', { kty: 'oct', k: 'AQAB==' }],
    ['a shared one that is cut', { kty: 'oct', k: 'AQABA' }],
    ['a shared one for RSA', { ...shared, alg: 'RS256' }],
  ])('have one that Envoy takes beside %s', (_, key) => {
    expect(envoyKeys(key)).toEqual({
      keys: [key, nobodys],
      noToken: 'it has no key of a kind that Envoy takes',
    });
  });

  it('are those of nobody if there are none', () => {
    expect(tokenKeys('{"keys":[]}')).toEqual({
      ok: true,
      keys: nobodysKeys,
      noToken: 'it has no keys',
    });
  });

  it('are those of nobody if they are not a list', () => {
    expect(tokenKeys(JSON.stringify(shared))).toMatchObject({ ok: true, keys: nobodysKeys });
  });

  it('need no other key beside one that Envoy takes', () => {
    const odd = { kty: 'EC', crv: 'P-1', x: 'AQAB', y: 'AQAB' };
    expect(tokenKeys(JSON.stringify({ keys: [odd, shared] }))).toEqual({
      ok: true,
      keys: JSON.stringify({ keys: [odd, shared] }),
      noToken: undefined,
    });
  });

  it('are those that are known, if others are passed over', () => {
    const text = JSON.stringify({ keys: [1, { kty: 'new' }, { kty: 'RSA' }, shared] });
    expect(tokenKeys(text, 'passed over')).toEqual({
      ok: true,
      keys: JSON.stringify({ keys: [shared] }),
      noToken: undefined,
    });
    expect(tokenKeys(text)).toEqual({ ok: false, reason: 'keys[0] is not an object' });
  });

  it('are at most 100, with 65,536 characters', () => {
    const read = (keys: readonly object[]) => tokenKeys(JSON.stringify({ keys }), 'passed over');
    const those = (count: number, k: string) =>
      Array.from({ length: count }, () => ({ kty: 'oct', k }));
    expect(read(those(100, 'AQAB'))).toMatchObject({ ok: true, noToken: undefined });
    expect(read(those(101, 'AQAB'))).toEqual({
      ok: false,
      reason: 'it has 101 keys, and the limit is 100',
    });
    const { length: long } = JSON.stringify({ keys: those(1, 'A'.repeat(65_536)) });
    expect(read(those(1, 'A'.repeat(65_536)))).toEqual({
      ok: false,
      reason: `its keys have ${long} characters, and the limit is 65536`,
    });
  });

  it('are nested no deeper than a text may be', () => {
    expect(tokenKeys(`{"keys":${'['.repeat(100_000)}`)).toEqual({
      ok: false,
      reason: 'it is not JSON',
    });
  });
});

describe('the key of nobody', () => {
  const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
  const power = (base: bigint, exponent: bigint): bigint =>
    exponent === 0n
      ? 1n
      : (power((base * base) % prime, exponent >> 1n) * (exponent % 2n === 1n ? base : 1n)) % prime;
  const encoded = (number: bigint) =>
    Buffer.from(number.toString(16).padStart(64, '0'), 'hex').toString('base64url');

  it('is the first point of the curve after the hashes of a text', () => {
    const points = Array.from({ length: 8 }, (_, index) => {
      const hash = createHash('sha256').update(`nobody ${index}`).digest('hex');
      const x = BigInt(`0x${hash}`) % prime;
      const square = (((x * x * x - 3n * x + b) % prime) + prime) % prime;
      return { x, square, y: power(square, (prime + 1n) / 4n) };
    });
    const first = points.find(({ square, y }) => (y * y) % prime === square);
    expect(nobodys).toEqual({
      kty: 'EC',
      kid: 'nobody',
      crv: 'P-256',
      x: encoded(first?.x ?? 0n),
      y: encoded(first?.y ?? 0n),
    });
  });
});
