import type { ServiceError } from '@grpc/grpc-js';

/** UNAVAILABLE, UNAUTHENTICATED, PERMISSION_DENIED: https://grpc.io/docs/guides/status-codes/ */
const unavailable: readonly number[] = [14];
const notLetIn: readonly number[] = [16, 7];

/**
 * What is wrong with a control plane, in few words, by what a call to it has failed with. Pure.
 *
 * @param hasToken a token was sent
 */
export function troubleOf({ code, details }: Pick<ServiceError, 'code' | 'details'>, hasToken: boolean): string {
  if (notLetIn.includes(code)) {
    return `it refuses ${hasToken ? 'the token' : 'the certificate of the agent'}: ${details}`;
  }
  if (!unavailable.includes(code)) return details;
  if (details.includes('Name resolution failed')) return 'its name does not resolve';
  const [, last = details] = /Last error: (?:Error: )?(.*?)(?:\. Resolution note: .*)?$/s.exec(details) ?? [];
  if (last.includes('ECONNREFUSED')) return 'connection refused';
  if (/certificate|self.signed|TLS|SSL|tlsv1/i.test(last)) return `TLS: ${last}`;
  return last;
}

/**
 * Why a certificate is of none of these names, each with its type before it; undefined if it is of
 * one. `found` is what Node says of its names (`subjectaltname`). Pure.
 */
export function nameFlaw(found: string | undefined, names: readonly string[]): Error | undefined {
  const has = (found ?? '').split(', ');
  if (names.some((name) => has.includes(name))) return undefined;
  return new Error(`its certificate is for ${has.join(', ')}, and not for ${names.join(' or ')}`);
}
