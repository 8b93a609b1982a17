import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { parseHostPort } from '../text/host-port.ts';

/** The parts of a request that a guard checks. */
export interface GuardedRequest extends Pick<IncomingMessage, 'method' | 'headers'> {
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

/** Connections over a Unix socket that only the user of the agent can open. */
export const ofOwner = new WeakSet<GuardedRequest['socket']>();

export type RequestRefusal = readonly [status: number, reason: string];

/**
 * Returns why a request may not change anything; undefined if it may: it is a POST of a program on
 * this machine, or of the page of this status port. A browser reports if another site sent it here.
 * Pure.
 */
export function controlGuard({
  socket,
  method,
  headers,
}: GuardedRequest): RequestRefusal | undefined {
  if (!isLocal(socket)) return fromElsewhere;
  if (method !== 'POST') return [405, 'Method Not Allowed'];
  return isForeign(headers) && !isOwnPage(headers) ? fromAnotherSite : undefined;
}

/**
 * Returns why a request may not see internal state; undefined if it may: it is a GET or HEAD of a
 * program on this machine, to a name of this machine. Pure.
 */
export function insideGuard({
  socket,
  method,
  headers,
}: GuardedRequest): RequestRefusal | undefined {
  if (!isLocal(socket)) return fromElsewhere;
  if (method !== 'GET' && method !== 'HEAD') return [405, 'Method Not Allowed'];
  // A browser sends no origin if another site's name has been made to resolve to this machine.
  return isForeign(headers) || !isOwnHost(headers.host ?? 'localhost')
    ? fromAnotherSite
    : undefined;
}

/**
 * Returns why a request may not take a profile; undefined if it may: profiles are on, and it has
 * the token (RFC 6750). Pure.
 */
export function tokenGuard(
  { headers }: IncomingMessage,
  token: string | undefined,
): RequestRefusal | undefined {
  if (token === undefined) return [404, 'Profiles are off: --profiling=true turns them on'];
  const [wanted, given] = [`Bearer ${token}`, headers.authorization ?? ''].map((text) =>
    createHash('sha256').update(text).digest(),
  );
  return wanted !== undefined && given !== undefined && timingSafeEqual(wanted, given)
    ? undefined
    : [401, 'The token in profile-token of --configPath is needed: Authorization: Bearer <token>'];
}

const fromElsewhere: RequestRefusal = [403, 'Only requests from localhost are allowed'];
const fromAnotherSite: RequestRefusal = [403, 'Requests from other sites are refused'];

function isOwnHost(address: string): boolean {
  const parts = parseHostPort(address);
  return (
    parts !== undefined &&
    (parts.host === 'localhost' || parts.kind !== 'name') &&
    /^\d+$/.test(parts.port ?? '0')
  );
}

/**
 * Whether the request comes from this server's page. A browser names the origin of the page at each
 * POST, and whether the request goes to that origin. A site's name that has been made to resolve to
 * this machine is not this machine's name.
 */
function isOwnPage({ host, origin, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return (
    site === 'same-origin' && host !== undefined && isOwnHost(host) && origin === `http://${host}`
  );
}

/**
 * The addresses of this machine. Traffic of Envoy's inbound passthrough comes from 127.0.0.6, and
 * any client may have sent it: so the rest of 127.0.0.0/8 does not count.
 */
const localAddresses = ['127.0.0.1', '::ffff:127.0.0.1', '::1'];

function isLocal(socket: GuardedRequest['socket']): boolean {
  return ofOwner.has(socket) || localAddresses.includes(socket.remoteAddress ?? '');
}

function isForeign({ origin, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none');
}
