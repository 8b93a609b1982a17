import { createSign, generateKeyPairSync } from 'node:crypto';

/** An issuer that signs tokens (JWT) with an RSA key. */
export interface TokenIssuer {
  /** The public key, as JWKS in JSON. */
  readonly keys: string;
  /** Returns a token with these claims. Without `exp` in the claims it is valid for an hour. */
  sign(claims: Readonly<Record<string, unknown>>): string;
}

const encoded = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

export function tokenIssuer(kid: string): TokenIssuer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    keys: JSON.stringify({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }],
    }),
    sign(claims) {
      const exp = Math.floor(Date.now() / 1_000) + 3_600;
      const signedPart = `${encoded({ alg: 'RS256', kid, typ: 'JWT' })}.${encoded({ exp, ...claims })}`;
      return `${signedPart}.${createSign('RSA-SHA256').update(signedPart).sign(privateKey, 'base64url')}`;
    },
  };
}
