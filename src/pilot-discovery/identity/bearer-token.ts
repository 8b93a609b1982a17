import { type TokenClaims, tokenClaims } from './token-claims.ts';

/** The token in the metadata of a call. */
export type BearerToken =
  | { readonly type: 'none' }
  | { readonly type: 'token'; readonly token: string; readonly claims: TokenClaims }
  | { readonly type: 'refused'; readonly reason: string };

/** The longest value, in characters. Tokens of Kubernetes have about 1,200. */
const longestToken = 8_192;

const form = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;

/**
 * Returns the token of `authorization`, which must be a signed JWT. Nothing of it is verified yet.
 * Pure.
 */
export function bearerToken(values: readonly string[]): BearerToken {
  const [value = ''] = values;
  if (values.length === 0) return { type: 'none' };
  if (values.length > 1) return refused(`authorization is there ${values.length} times`);
  if (value.length > longestToken)
    return refused(`the token has ${value.length} characters, and the limit is ${longestToken}`);
  const [, token] = form.exec(value) ?? [];
  const claims = token === undefined ? undefined : tokenClaims(token);
  return token === undefined || claims === undefined
    ? refused('authorization is not Bearer with a signed token (JWT)')
    : { type: 'token', token, claims };
}

const refused = (reason: string): BearerToken => ({ type: 'refused', reason });
