import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import {
  catchError,
  defer,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  switchMap,
  take,
} from 'rxjs';
import { bodyOf, type HttpQuestion, openHttp } from '../../shared/http/http-answer.ts';
import { type CredentialFiles, type Credentials, credentials } from './credentials.ts';

/** What a server has answered. */
export interface Fetched {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Asks a URL once, on subscribe, with what the files say then; emits the whole answer and
 * completes. Takes gzip, and counts `largest` bytes of what comes out of it. Errors with what went
 * wrong. Redirects are not followed; to unsubscribe hangs up.
 */
export function fetched(
  url: string,
  { proxy, ...files }: CredentialFiles & Pick<HttpQuestion, 'proxy'>,
  headersFor: (credentials: Credentials) => HttpQuestion['headers'],
  largest: number,
): Observable<Fetched> {
  return defer(() => credentials(files)).pipe(
    switchMap((known) =>
      openHttp(url, {
        headers: { 'accept-encoding': 'gzip', ...headersFor(known) },
        proxy,
        ...(known.ca !== undefined && { ca: known.ca }),
      }),
    ),
    mergeMap((answer) =>
      bodyOf(decoded(answer), largest).pipe(
        map((body) => ({ status: answer.statusCode ?? 0, headers: answer.headers, body })),
      ),
    ),
    take(1),
  );
}

/** Says in an error which URL it is about, and what would help. */
export function errorsOf<T>(url: string): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    throw new Error(`${shown(url)}: ${reasonOf(error)}`);
  });
}

/** A URL for a person: without what may be a secret in it, name, password and query. Pure. */
export function shown(url: string): string {
  if (!URL.canParse(url)) return 'a URL that is none';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** The text of an answer; throws where it is none. Pure. */
export function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new Error('what it answers is no text in UTF-8');
  return body.toString();
}

function decoded(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer;
  if (encoding !== 'gzip')
    throw new Error('its answer is in an encoding other than gzip, which was not asked for');
  // As in openHttp.
  return answer.pipe(process.getBuiltinModule('node:zlib').createGunzip());
}

/** Roots that do not vouch for the server, in the words of OpenSSL. */
const untrusted = /self[- ]signed certificate|unable to (?:get|verify)/;

function reasonOf(error: unknown): string {
  // All addresses of a name have failed.
  const { errors, message } = error as AggregateError;
  const said =
    message === '' && Array.isArray(errors)
      ? errors.map((one: unknown) => (one as Error).message).join('; ')
      : message;
  return untrusted.test(said)
    ? `${said}. The roots of its authority belong into the CA file`
    : said;
}
