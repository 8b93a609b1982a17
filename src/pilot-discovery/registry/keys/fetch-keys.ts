import { isIP } from 'node:net';
import { concatMap, map, type Observable, of } from 'rxjs';
import { type HttpAnswer, httpAnswer } from '../../../shared/http/http-answer.ts';
import { bare } from '../../../shared/http/outside-proxy.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { jsonOf } from '../../../shared/text/json-of.ts';
import { tokenKeys } from '../../istio/security/token-keys.ts';
import type { KeysAddress } from '../../istio/security/token-rule.ts';
import { type BlockedRanges, guardedLookup } from './blocked-ranges.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** The keys of an issuer as JWKS for Envoy, or why there are none. */
export type KeysAnswer =
  { readonly ok: true; readonly keys: string } | { readonly ok: false; readonly reason: string };

/** Fetches the keys at an address once; emits the result and completes. */
export type FetchKeys = (from: KeysAddress) => Observable<KeysAnswer>;

/** The largest answer, in bytes. */
const largest = 1 << 20;
const mostRedirects = 5;

/**
 * Fetches the keys of an issuer once, on subscribe; emits the result and completes. Follows
 * redirects, but not from TLS to plain text. Checks each address before it connects. Has no time
 * limit. Never errors.
 */
export function fetchKeys(
  { has, url }: KeysAddress,
  blocked: BlockedRanges,
): Observable<KeysAnswer> {
  const ask$ = (address: string) => answer(address, blocked, mostRedirects);
  if (has === 'keys') return ask$(url).pipe(map(keysIn));
  return ask$(url).pipe(
    concatMap((metadata) => {
      const address = metadata.ok ? addressIn(metadata.body) : metadata;
      return typeof address === 'string' ? ask$(address).pipe(map(keysIn)) : of(address);
    }),
  );
}

type Body = { readonly ok: true; readonly body: string } | Failed;
type Failed = Extract<KeysAnswer, { readonly ok: false }>;

const failed = (reason: string): Failed => ({ ok: false, reason });

function answer(url: string, blocked: BlockedRanges, redirects: number): Observable<Body> {
  const host = bare(new URL(url).hostname);
  if (isIP(host) > 0 && blocked.blocks(host)) return of(failed(`${host} is blocked`));
  return httpAnswer(url, { lookup: guardedLookup(blocked) }, largest).pipe(
    concatMap((result): Observable<Body> => {
      if (!result.ok) return of(failed(messageOf(result.error)));
      const { status, body } = result.value;
      if (status === 200) return of({ ok: true, body });
      const next = redirectOf(result.value, url);
      if (next === undefined) return of(failed(`${url} answers with ${status}`));
      return redirects > 0
        ? answer(next, blocked, redirects - 1)
        : of(failed(`there are more than ${mostRedirects} redirects`));
    }),
  );
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Returns the target of a redirect; undefined if the answer has none, or one that is not followed.
 */
function redirectOf({ status, headers }: HttpAnswer, from: string): string | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, from)) return undefined;
  const { protocol, href } = new URL(location, from);
  const isRight = protocol === 'https:' || (protocol === 'http:' && from.startsWith('http:'));
  return isRight ? href : undefined;
}

function keysIn(response: Body): KeysAnswer {
  if (!response.ok) return response;
  const read = tokenKeys(response.body, 'passed over');
  if (!read.ok) return failed(read.reason);
  return read.noToken === undefined ? { ok: true, keys: read.keys } : failed(read.noToken);
}

/** Returns `jwks_uri` of the issuer's metadata. */
function addressIn(body: string): string | Failed {
  const read = jsonOf(body);
  const address = isObject(read) ? ownMember(read, 'jwks_uri') : undefined;
  return typeof address === 'string' && /^https?:/i.test(address) && URL.canParse(address)
    ? address
    : failed('the metadata of the issuer has no jwks_uri with http:// or https://');
}
