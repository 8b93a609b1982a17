import type { ServiceError } from '@grpc/grpc-js';

/**
 * CANCELLED, PERMISSION_DENIED, UNAVAILABLE, UNAUTHENTICATED:
 * https://grpc.io/docs/guides/status-codes/
 */
const codes: Readonly<Record<number, 'ended' | 'refused' | 'unavailable'>> = {
  1: 'ended',
  7: 'refused',
  14: 'unavailable',
  16: 'refused',
};

/** Errors of gRPC for Node, Node and OpenSSL for a failed connection, and what they mean. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'connection refused'],
  [/ECONNRESET|^Connection dropped/, 'the connection broke'],
  [/ETIMEDOUT/, 'the connection timed out'],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no route to it'],
  [/^Name resolution failed/, 'its name does not resolve'],
  [/^Failed to connect/, 'it closes the connection'],
  [/^Protocol error/, 'it does not speak HTTP/2'],
  [/disconnected before secure TLS connection/, 'TLS: it closes the connection'],
  [/wrong version number/, 'TLS: it does not speak TLS'],
];

/**
 * Describes in few words what is wrong with a server, given the error of a call to it. The same
 * trouble always gives the same words. Pure.
 *
 * @param shown how the agent has authenticated itself
 */
export function troubleOf(
  { code, details }: Pick<ServiceError, 'code' | 'details'>,
  shown: 'token' | 'certificate' | 'nothing',
): string {
  const kind = codes[code];
  if (kind === 'refused') {
    return `it refuses ${{ token: 'the token', certificate: 'the certificate of the agent', nothing: 'the agent' }[shown]}: ${details}`;
  }
  if (kind === 'ended') return 'it has ended the stream';
  if (kind !== 'unavailable') return details;
  const [, last = details] =
    /Last error: (?:Error: )?(.*?)(?: \(\d[^()]*Z\))?(?:\. Resolution note: .*)?$/s.exec(details) ??
    [];
  return connectionTrouble(last);
}

/** Describes what is wrong with a server, given the error of a connection to it. Pure. */
export function connectionTrouble(last: string): string {
  const [, meaning] = meanings.find(([form]) => form.test(last)) ?? [];
  if (meaning !== undefined) return meaning;
  const reason = openSslReason(last);
  const [, alert] = /alert (.*)/.exec(reason) ?? [];
  if (alert !== undefined) return `TLS: it refuses the connection: ${alert}`;
  return reason !== last || /certificate|self.signed|TLS|SSL/i.test(last) ? `TLS: ${reason}` : last;
}

/** Returns the reason in an OpenSSL error, without its number and its source. Pure. */
export function openSslReason(message: string): string {
  return /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
}

/**
 * Returns an error if a certificate has none of these names, such as `DNS:a.test`; undefined if it
 * has one. `subjectAltName` is the text that Node has for the names of the certificate. Pure.
 */
export function nameFlaw(
  subjectAltName: string | undefined,
  names: readonly string[],
): Error | undefined {
  const has = subjectAltName === undefined ? [] : subjectAltName.split(', ');
  if (names.some((name) => has.includes(name))) return undefined;
  return new Error(
    `its certificate is for ${has.join(', ') || 'no name'}, and not for ${names.join(' or ')}`,
  );
}
