import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { jsonOf } from '../../shared/text/json-of.ts';

/** Claims that nobody has verified yet. A claim that a token lacks is ''. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  /** In ms since 1970; 0 if the token does not expire. */
  readonly expires: number;
}

/** Reads the claims of a JWT without verifying it; undefined if it has none. Pure. */
export function tokenClaims(token: string): TokenClaims | undefined {
  const [, payload = ''] = token.split('.');
  const claims = jsonOf(Buffer.from(payload, 'base64url').toString());
  if (!isObject(claims)) return undefined;
  const text = (name: string): string => {
    const value = ownMember(claims, name);
    return typeof value === 'string' ? value : '';
  };
  const end = ownMember(claims, 'exp');
  return {
    issuer: text('iss'),
    subject: text('sub'),
    expires: typeof end === 'number' && Number.isFinite(end) ? end * 1_000 : 0,
  };
}
