import { decodeJwt, type JWTPayload } from 'jose';
import { asyncScheduler } from 'rxjs';
import { tokenFiles } from '../config/secrets-config.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { span } from '../../shared/log/span.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('token');

/** The audience that istiod accepts in the token of a workload (`TOKEN_AUDIENCES`). */
const audience = 'istio-ca';

/**
 * Checks that the token of the workload exists, its expiry and its audience. Findings show nothing
 * else of the token.
 */
export async function checkToken({ plan, config }: Around): Promise<readonly Finding[]> {
  const { tokenFile } = plan.config;
  const isNeeded = plan.workload.kind === 'authority' && config.provCert === '';
  const file =
    tokenFile === '' || config.fileMountedCerts
      ? undefined
      : await readOutside(tokenFile, largest.token);
  if (file?.kind !== 'read') {
    const absent =
      file === undefined
        ? 'JWT_POLICY names no token'
        : file.kind === 'absent'
          ? `${tokenFile} is not there`
          : `${tokenFile} cannot be read: ${file.reason}`;
    if (!isNeeded && file?.kind !== 'unreadable') return [ok('none is needed')];
    return [
      fail(
        'token missing',
        `${absent}, and the certificate authority wants a token`,
        'mount the token of the service account there',
      ),
    ];
  }
  const token = file.bytes.toString().trim();
  if (token === '')
    return [
      fail(
        'token missing',
        `${tokenFile} is empty`,
        'mount the token of the service account there',
      ),
    ];
  return judged(tokenFile, claimsOf(token), asyncScheduler.now());
}

/** Undefined if the token is not a JWT. */
function claimsOf(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

function judged(path: string, claims: JWTPayload | undefined, now: number): readonly Finding[] {
  if (claims === undefined) return [ok(`${path} is not a JWT: only its receiver can judge it`)];
  const { exp, aud = [] } = claims;
  const left = exp === undefined ? Infinity : exp * 1000 - now;
  if (exp !== undefined && left <= 0) {
    const what = `${path} has expired at ${new Date(exp * 1000).toISOString()}`;
    return [
      fail(
        'token expired',
        what,
        'see why it is not renewed: kubelet writes a new one after 80 % of its lifetime',
      ),
    ];
  }
  const audiences = [aud].flat();
  const isBound = path === tokenFiles.get('third-party-jwt');
  if (isBound && !audiences.includes(audience)) {
    const what = `${path} is for ${audiences.join(', ') || 'nobody'}, but istiod wants a token for ${audience}`;
    return [
      warn(
        'token audience',
        what,
        `set the audience of the projected token to ${audience}, or TOKEN_AUDIENCES of istiod to that of the token`,
      ),
    ];
  }
  const forWhom = audiences.length === 0 ? '' : ` for ${audiences.join(', ')},`;
  return [
    ok(`${path},${forWhom} ${exp === undefined ? 'does not expire' : `expires in ${span(left)}`}`),
  ];
}
