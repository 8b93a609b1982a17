import { decodeJwt } from 'jose';

/**
 * Why a token is of no use now; undefined if it is, or if it is no JWT, which only the authority can judge. Pure.
 *
 * Looks at `exp` (RFC 7519 §4.1.4). The Go agent 1.6 looks at `iat`, and takes every token for expired.
 *
 * @param now ms since 1970
 */
export function tokenFlaw(token: string, now: number): string | undefined {
  if (token === '') return 'the token is empty';
  try {
    const { exp } = decodeJwt(token);
    return exp !== undefined && exp * 1000 <= now ? `the token has expired at ${new Date(exp * 1000).toISOString()}` : undefined;
  } catch {
    return undefined;
  }
}
