import { map, type Observable } from 'rxjs';
import { jitter } from '../../operators/back-off.ts';
import type { Content, ContributingSource } from './contribution.ts';
import type { CredentialFiles } from '../../shared/http/credentials.ts';
import type { OutsideProxy } from '../../shared/http/outside-proxy.ts';
import { errorsOf, type Fetched, fetched, shown, textOf } from '../../shared/http/fetched.ts';
import { source, type SourceOptions } from './source.ts';

export interface HttpOptions extends Omit<SourceOptions, 'every' | 'watch'>, CredentialFiles {
  /** Its name in the log and in metrics; the URL without its query if left out. */
  readonly name?: string;
  /** Requests again this many ms after a response, 20 % more or less; 30,000 if left out. */
  readonly every?: number;
  /** The largest size of the document in bytes; 16 MiB if left out. */
  readonly largest?: number;
  /** The proxy for a URL outside this machine. */
  readonly proxy?: OutsideProxy | undefined;
}

const spread = 0.2;

/**
 * Requests the document at a URL again and again, and gives its text, or its bytes if it is a
 * secret. Each request names the known version (`If-None-Match`, `If-Modified-Since`), so that the
 * server does not send it again.
 *
 * A document comes whole or not at all. A status other than 200 and 304 is a failure, and so is a
 * redirect: `source` then keeps its content and asks after longer and longer pauses.
 */
export function http(url: string, options: HttpOptions = {}): ContributingSource {
  const { largest = 16 << 20 } = options;
  return document(url, options, {
    ask: (currentValidators) =>
      fetched(
        url,
        options,
        ({ token }) => ({ ...conditions(currentValidators), ...bearer(token) }),
        largest,
      ),
  });
}

/** The validators that identify a version of a document. */
interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

interface DocumentServer {
  /** Requests a document once, with the validators of the known version. */
  ask(currentValidators: Validators): Observable<Fetched>;
}

/** Makes the same source with another way to request the document. */
export function document(
  url: string,
  options: HttpOptions,
  server: DocumentServer,
): ContributingSource {
  const { name = shown(url), every = 30_000, random = Math.random, as } = options;
  let last: { readonly validators: Validators; readonly content: Content } | undefined;
  const read = () =>
    server.ask(last?.validators ?? {}).pipe(
      map((answer) => {
        if (answer.status === 304 && last !== undefined) return last.content;
        last = undefined; // the server may have rejected these validators
        if (answer.status !== 200) throw new Error(refusal(url, answer, options));
        const content = as === 'secret' ? answer.body : textOf(answer.body);
        last = { validators: validators(answer), content };
        return content;
      }),
      errorsOf(url),
    );
  return source(name, read, {
    ...options,
    every: () => Math.round(jitter(every, spread, random())),
  });
}

function validators({
  headers: { etag, date = '', 'last-modified': lastModified = '' },
}: Fetched): Validators {
  // `Last-Modified` names a second, and within it the document may change once more (RFC 9110,
  // 8.8.2.2).
  const isSure = Date.parse(date) - Date.parse(lastModified) >= 1_000;
  return { ...(etag !== undefined && { etag }), ...(isSure && { lastModified }) };
}

function conditions({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function refusal(
  url: string,
  { status, headers: { location } }: Fetched,
  { tokenFile = '' }: CredentialFiles,
): string {
  if (status === 304) return 'it answers 304 (not modified), but the request named no version';
  if (status > 300 && status < 400) {
    const to =
      location !== undefined && URL.canParse(location, url)
        ? ` to ${shown(new URL(location, url).href)}`
        : '';
    return `it answers ${status}, a redirect${to}. Redirects are not followed: give that URL if you trust it`;
  }
  if (status !== 401 && status !== 403) return `it answers ${status} instead of 200`;
  return `it answers ${status}: ${tokenFile === '' ? 'no token file is given' : `the token in ${tokenFile} is not enough`}`;
}
