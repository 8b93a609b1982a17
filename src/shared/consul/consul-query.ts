import { map } from 'rxjs';
import type { CredentialFiles } from '../http/credentials.ts';
import { type Fetched, fetched } from '../http/fetched.ts';
import type { HttpQuestion } from '../http/http-answer.ts';
import { parseJson } from '../text/parse-json.ts';
import type { Queried } from './blocking-queries.ts';

/** The address of Consul, and the credentials for it. */
export interface ConsulServer extends CredentialFiles, Pick<HttpQuestion, 'proxy'> {
  /** `http://host:port`, or `host:port`; http://127.0.0.1:8500 if left out or empty. */
  readonly address?: string;
}

export interface ConsulQuestion<T> {
  /** The URL without `index` and `wait`. */
  readonly url: string;
  /** How long Consul delays an answer without news, in ms. */
  readonly wait: number;
  /** The largest size of an answer, in bytes. */
  readonly largest: number;
  /** Returns the state in a body; throws if it has none. The body is undefined for a 404. */
  readonly stateOf: (body: unknown) => T;
}

/** Returns the URL of a path of Consul's API. Pure. */
export function consulUrl({ address = '' }: ConsulServer, path: string): string {
  const whole = address === '' ? '127.0.0.1:8500' : address;
  return `${(whole.includes('://') ? whole : `http://${whole}`).replace(/\/+$/, '')}/v1/${path}`;
}

/**
 * Returns a query of Consul's HTTP API, with the credentials that the files have at that time. It
 * errors with the reason if Consul has no leader, and so may have an old state, or if Consul does
 * not show all of the state.
 *
 * The query from index 0 is `consistent`. A leader that has just started answers all other queries
 * before it has read all its data.
 */
export function consulQuery<T>(
  server: ConsulServer,
  { url, wait, largest, stateOf }: ConsulQuestion<T>,
): Queried<T> {
  return {
    query(index) {
      const more = index === 0 ? 'consistent' : `index=${index}&wait=${wait}ms`;
      return fetched(
        `${url}${url.includes('?') ? '&' : '?'}${more}`,
        server,
        ({ token }) => (token === undefined ? {} : { 'x-consul-token': token }),
        largest,
      ).pipe(
        map((answer) => {
          const answeredIndex = indexOf(answer, server);
          const body = bodyOf(answer);
          checkShown(answer, body, server);
          return { index: answeredIndex, state: stateOf(body) };
        }),
      );
    },
  };
}

/** Returns the index of an answer; throws if Consul refuses, or may have an old state. */
function indexOf({ status, headers, body }: Fetched, { tokenFile = '' }: CredentialFiles): number {
  const index = /^\d+$/.test(String(headers['x-consul-index']))
    ? Number(headers['x-consul-index'])
    : NaN;
  if (status === 403)
    throw new Error(
      `it answers 403: ${tokenFile === '' ? 'no token file is given' : `the token in ${tokenFile} may not read this`}`,
    );
  if (status === 500 && body.includes('leader')) throw new Error('it has no leader now');
  if (status === 500 && body.includes('consistent reads'))
    throw new Error('its leader has not read all its data yet');
  if (status !== 200 && status !== 404)
    throw new Error(
      `it answers ${status}${status === 500 ? explanationIn(body) : ' instead of 200'}`,
    );
  if (!Number.isSafeInteger(index))
    throw new Error(`it answers ${status} without X-Consul-Index: is this Consul?`);
  if (headers['x-consul-knownleader'] === 'false')
    throw new Error('it has no leader now, so its answer may be old');
  return index;
}

/** Returns the start of the sentence with which Consul explains an error. */
const explanationIn = (body: Fetched['body']): string =>
  `: ${body
    .toString()
    .slice(0, 200)
    .replaceAll(/[^ -~]+/g, ' ')
    .trim()}`;

/** Throws if Consul does not show all entries. */
function checkShown(
  { headers }: Fetched,
  body: unknown,
  { tokenFile = '' }: CredentialFiles,
): void {
  if (headers['x-consul-results-filtered-by-acls'] === 'true')
    throw new Error(`it holds back what the token in ${tokenFile} may not read`);
  // Without a token, Consul does not even say that it hides something.
  if (headers['x-consul-default-acl-policy'] === 'deny' && tokenFile === '' && isEmpty(body))
    throw new Error('it shows nothing without a token, and no token file is given');
}

const isEmpty = (body: unknown): boolean =>
  body === undefined || (typeof body === 'object' && Object.keys(body ?? {}).length === 0);

function bodyOf({ status, body }: Pick<Fetched, 'status' | 'body'>): unknown {
  if (status === 404) return undefined;
  try {
    return parseJson(body.toString());
  } catch {
    throw new Error('its answer is not JSON'); // the parser's message would quote from it
  }
}
