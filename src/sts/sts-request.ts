import type { ExchangeRequest } from './token-exchange.ts';

/** A request for `/token` as it came. */
export interface RawStsRequest {
  readonly method: string;
  readonly contentType: string;
  readonly body: string;
}

export type StsRequest = { readonly ok: true; readonly request: ExchangeRequest } | { readonly ok: false; readonly reason: string };

const form = 'application/x-www-form-urlencoded';
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwt = 'urn:ietf:params:oauth:token-type:jwt';

/**
 * What a request for a token says (RFC 8693 §2.1), or the first thing that is wrong with it, in the order and the words of the Go agent, which wants the content type without
 * parameters. Pure.
 */
export function stsRequest({ method, contentType, body }: RawStsRequest): StsRequest {
  const invalid = (what: string, expected: string, actual: string): StsRequest => {
    return { ok: false, reason: `${what} is invalid, expected ${expected} and actual ${actual}` };
  };
  if (method !== 'POST') return invalid('request method', 'POST', method);
  if (contentType !== form) return invalid('request content type', form, contentType);
  const fields = new URLSearchParams(body);
  const field = (name: string) => fields.get(name) ?? '';
  if (field('grant_type') !== exchange) return invalid('request query grant_type', exchange, field('grant_type'));
  if (field('subject_token') === '') return { ok: false, reason: 'subject_token is empty' };
  if (field('subject_token_type') !== jwt) return invalid('subject_token_type', jwt, field('subject_token_type'));
  return { ok: true, request: { subjectToken: field('subject_token'), scope: field('scope') } };
}
