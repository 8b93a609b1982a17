import { bugOf } from './bug.ts';
import { troubleOf } from '../state/part.ts';
import type { BugSign, ConnectionBroken } from '../state/view.ts';

/** The error codes of the kernel if a peer, or the path to it, ends a connection. */
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
/** The error codes of Node's TLS, HTTP/2 and HTTP parser for bad bytes from a peer. */
const ofPeer =
  /^(?:ERR_SSL_|ERR_TLS_|ERR_HTTP2_(?:ERROR|SESSION_ERROR|STREAM_ERROR|GOAWAY_SESSION)$|HPE_)/;

/**
 * Classifies an uncaught exception: it is a bug, unless it is the error of a connection. The socket
 * of that connection is then destroyed, and nothing else is affected: no peer can end the agent.
 * Pure.
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
