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
import { bodyOf, type HttpQuestion, openHttp } from './http-answer.ts';
import { type CredentialFiles, type Credentials, credentials } from './credentials.ts';

/** The response of a server. */
export interface Fetched {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Requests a URL once, on subscribe, with the current credentials in the files. Emits the whole
 * response and completes. Accepts gzip; `largest` limits the bytes after decompression. Errors with
 * the reason. Does not follow redirects; unsubscribing closes the connection.
 */
export function fetched(
  url: string,
  { proxy, ...files }: CredentialFiles & Pick<HttpQuestion, 'proxy'>,
  headersFor: (credentials: Credentials) => HttpQuestion['headers'],
  largest: number,
): Observable<Fetched> {
  return defer(() => credentials(files)).pipe(
    switchMap((currentCredentials) =>
      openHttp(url, {
        headers: { 'accept-encoding': 'gzip', ...headersFor(currentCredentials) },
        proxy,
        ...(currentCredentials.ca !== undefined && { ca: currentCredentials.ca }),
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

/** Adds the URL to an error, and what would help. */
export function errorsOf<T>(url: string): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    throw new Error(`${shown(url)}: ${reasonOf(error)}`);
  });
}

/**
 * Returns a URL for a person, without the parts that may be secret: name, password and query. Pure.
 */
export function shown(url: string): string {
  if (!URL.canParse(url)) return 'a text that is not a URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Returns the text of a response; throws if it is not a text. Pure. */
export function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new Error('its answer is not text in UTF-8');
  return body.toString();
}

function decoded(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer;
  if (encoding !== 'gzip')
    throw new Error('its answer is in an encoding other than gzip, which was not asked for');
  // Loaded only here, as in openHttp.
  return answer.pipe(process.getBuiltinModule('node:zlib').createGunzip());
}

/** OpenSSL's messages for a server that the roots do not vouch for. */
const untrusted = /self[- ]signed certificate|unable to (?:get|verify)/;

function reasonOf(error: unknown): string {
  // If all addresses of a name failed, there is one error for each.
  const { errors, message } = error as AggregateError;
  const reason =
    message === '' && Array.isArray(errors)
      ? errors.map((failure: unknown) => (failure as Error).message).join('; ')
      : message;
  return untrusted.test(reason)
    ? `${reason}. Add the roots of its authority to the CA file`
    : reason;
}
