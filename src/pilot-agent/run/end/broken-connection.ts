import { bugOf } from './bug.ts';
import { troubleOf } from '../state/part.ts';
import type { BugSign, ConnectionBroken } from '../state/view.ts';

/** What the kernel says when a peer, or the way to it, ends a connection. */
const codes = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
];
const calls = ['connect', 'read', 'write', 'shutdown'];
/** What Node's TLS, HTTP/2 and HTTP parser say of bytes that a peer has sent. */
const ofPeer =
  /^(?:ERR_SSL_|ERR_TLS_|ERR_HTTP2_(?:ERROR|SESSION_ERROR|STREAM_ERROR|GOAWAY_SESSION)$|HPE_)/;

/**
 * An exception that nobody has caught: a bug, unless it is the error of a connection. Its socket is
 * destroyed then, and nothing else is affected: whatever a peer does, the agent goes on. Pure.
 */
export function uncaughtSign(error: unknown): BugSign | ConnectionBroken {
  return isOfConnection(error) ? { type: 'connection-broken', ...troubleOf(error) } : bugOf(error);
}

function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  return (codes.includes(code) && calls.includes(syscall)) || ofPeer.test(code);
}
