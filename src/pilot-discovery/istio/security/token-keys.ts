// Why: docs/decisions/085-a-token-without-keys-is-refused.md
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { ownMember } from '../../../shared/text/own-member.ts';
import { jsonOf } from '../../../shared/text/json-of.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** The public keys of an issuer, read from JSON (JWKS, RFC 7517). */
export type TokenKeys =
  | {
      readonly ok: true;
      /** For Envoy: the members that it needs of each key, and at least one key that it accepts. */
      readonly keys: string;
      /** Why no token is valid with them; undefined if one can be. */
      readonly noToken: string | undefined;
    }
  | { readonly ok: false; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

/**
 * Envoy NACKs a listener with a rule that has no acceptable key. Nobody has the private half of
 * this key: it is the first point of P-256 whose x is the SHA-256 of `nobody 0`, `nobody 1`, …
 */
const nobodysKey: Texts = {
  kty: 'EC',
  kid: 'nobody',
  crv: 'P-256',
  x: 'TFKm-UlL0tq6rvtZJwZaSft11pljF1viRPFGKWtfwJw',
  y: 'CZvq8YJtNWnq3V4PwNnGBu0ZvqNIUKFm86XlcVnTBoo',
};

const jwks = (keys: readonly Texts[]): string => JSON.stringify({ keys });

/** Keys with which no token is valid. */
export const nobodysKeys: string = jwks([nobodysKey]);

/**
 * The largest number of keys, and of characters that Envoy gets. A rule may have thousands of
 * issuers, whose keys are all kept.
 */
const most = { keys: 100, characters: 64 << 10 };

/** The members that a key needs, by its type (RFC 7518 §6, RFC 8037). */
const needs: ReadonlyMap<string, readonly string[]> = new Map([
  ['RSA', ['n', 'e']],
  ['EC', ['crv', 'x', 'y']],
  ['oct', ['k']],
  ['OKP', ['crv', 'x']],
]);

/** The members that Envoy reads of each key. It gets no private members. */
const further = ['kty', 'kid', 'alg'];

/**
 * Reads public keys. Pure.
 *
 * @param odd what happens to a key that is invalid or of an unknown kind
 */
export function tokenKeys(text: string, odd: 'refused' | 'passed over' = 'refused'): TokenKeys {
  const read = jsonOf(text);
  if (read === undefined) return bad('it is not JSON');
  if (!isObject(read)) return bad('it is not an object');
  const given = ownMember(read, 'keys');
  const isBareKey = given === undefined && ownMember(read, 'kty') !== undefined;
  if (isBareKey) return { ok: true, keys: nobodysKeys, noToken: 'it is a key, not {"keys": […]}' };
  if (!Array.isArray(given)) return bad('it has no list of keys');
  if (given.length > most.keys)
    return bad(`it has ${given.length} keys, and the limit is ${most.keys}`);
  const flaws = given.map(keyFlaw);
  const flawIndex = flaws.findIndex((flaw) => flaw !== undefined);
  if (flawIndex >= 0 && odd === 'refused')
    return bad(`keys[${flawIndex}] ${flaws[flawIndex] ?? ''}`);
  const keys = (given as readonly Fields[])
    .filter((_, index) => flaws[index] === undefined)
    .map(forEnvoy);
  const { length } = jwks(keys);
  if (length > most.characters)
    return bad(`its keys have ${length} characters, and the limit is ${most.characters}`);
  if (keys.some(isAccepted)) return { ok: true, keys: jwks(keys), noToken: undefined };
  const noToken = keys.length === 0 ? 'it has no keys' : 'it has no key of a kind that Envoy takes';
  return { ok: true, keys: jwks([...keys, nobodysKey]), noToken };
}

const bad = (reason: string): TokenKeys => ({ ok: false, reason });

function keyFlaw(key: unknown): string | undefined {
  if (!isObject(key)) return 'is not an object';
  const type = ownMember(key, 'kty');
  const members = typeof type === 'string' ? needs.get(type) : undefined;
  if (members === undefined) return `has a kty other than ${[...needs.keys()].join(', ')}`;
  const missing = members.find((name) => !isBase64(ownMember(key, name)));
  return missing === undefined
    ? undefined
    : `has no ${missing} in base64url, which ${String(type)} needs`;
}

/** Returns the members that Envoy reads, in their original order. */
function forEnvoy(key: Fields): Texts {
  const names = [...further, ...(needs.get(String(key['kty'])) ?? [])];
  return Object.fromEntries(
    Object.entries(key).filter(
      (member): member is [string, string] =>
        names.includes(member[0]) && typeof member[1] === 'string' && isWellFormed(member[1]),
    ),
  );
}

/** Whether a text is valid Unicode: JSON may have half a character. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

const algorithms: ReadonlyMap<string, RegExp> = new Map([
  ['RSA', /^[RP]S(?:256|384|512)$/],
  ['EC P-256', /^ES256$/],
  ['EC P-384', /^ES384$/],
  ['EC P-521', /^ES512$/],
  ['oct', /^HS(?:256|384|512)$/],
  ['OKP Ed25519', /^EdDSA$/],
]);

/** The lengths that Envoy accepts for an RSA key, in bits. */
const bitsOfRsa = { least: 512, most: 16_384 };

/** Whether Envoy accepts a key. It ignores other keys. */
function isAccepted(key: Texts): boolean {
  const { kty = '', crv = '', alg, k } = key;
  const algorithmPattern = algorithms.get(crv === '' ? kty : `${kty} ${crv}`);
  if (algorithmPattern === undefined || (alg !== undefined && !algorithmPattern.test(alg)))
    return false;
  if (kty === 'oct') return k !== undefined && /^[\w-]+$/.test(k) && k.length % 4 !== 1;
  try {
    const publicKey = createPublicKey({ format: 'jwk', key: key as JsonWebKey });
    const { modulusLength: bits, publicExponent: e = 3n } = publicKey.asymmetricKeyDetails ?? {};
    const { least, most } = bitsOfRsa;
    return bits === undefined || (bits >= least && bits <= most && e % 2n === 1n && e < 2n ** 33n);
  } catch {
    return false;
  }
}

/** Whether a value is base64url. Names of curves look like it too. */
const isBase64 = (value: unknown): boolean =>
  typeof value === 'string' && /^[A-Za-z0-9_-]+={0,2}$/.test(value);
