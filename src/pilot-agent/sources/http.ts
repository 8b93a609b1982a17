import { map, type Observable } from 'rxjs';
import { jitter } from '../../operators/back-off.ts';
import type { Content, ContributingSource } from './contribution.ts';
import type { CredentialFiles } from './credentials.ts';
import type { OutsideProxy } from '../../shared/http/outside-proxy.ts';
import { errorsOf, type Fetched, fetched, shown, textOf } from './fetched.ts';
import { source, type SourceOptions } from './source.ts';

export interface HttpOptions extends Omit<SourceOptions, 'every' | 'watch'>, CredentialFiles {
  /** In the log and in metrics; the URL, without its query, if left out. */
  readonly name?: string;
  /** Asks again so many ms after an answer, 20 % more or less; 30,000 if left out. */
  readonly every?: number;
  /** How many bytes the document may have; 16 MiB if left out. */
  readonly largest?: number;
  /** Through which a URL outside of this machine is asked. */
  readonly proxy?: OutsideProxy | undefined;
}

const spread = 0.2;

/**
 * The document at a URL, which is asked for again and again: its text, or its bytes where it is a
 * secret. The server is told what is known already (`If-None-Match`, `If-Modified-Since`), and the
 * document is not sent again then.
 *
 * A document comes whole or not at all. Another status than 200 and 304, and with that a redirect,
 * is a failure, after which `source` keeps what it has and asks after longer and longer pauses.
 */
export function http(url: string, options: HttpOptions = {}): ContributingSource {
  const { largest = 16 << 20 } = options;
  return document(url, options, {
    ask: (known) =>
      fetched(url, options, ({ token }) => ({ ...conditions(known), ...bearer(token) }), largest),
  });
}

/** What a server knows a state of a document by. */
interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

interface DocumentServer {
  /** Asks once for a document of which that is known already. */
  ask(known: Validators): Observable<Fetched>;
}

/** The same, of a server that is asked in another way. */
export function document(
  url: string,
  options: HttpOptions,
  server: DocumentServer,
): ContributingSource {
  const { name = shown(url), every = 30_000, random = Math.random, as } = options;
  let last: { readonly known: Validators; readonly content: Content } | undefined;
  const read = () =>
    server.ask(last?.known ?? {}).pipe(
      map((answer) => {
        if (answer.status === 304 && last !== undefined) return last.content;
        last = undefined; // nor is it said again what the server may not like to hear
        if (answer.status !== 200) throw new Error(refusal(url, answer, options));
        const content = as === 'secret' ? answer.body : textOf(answer.body);
        last = { known: validators(answer), content };
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
  // Within the second that it names, a document may change once more (RFC 9110, 8.8.2.2).
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
  if (status === 304) return 'it answers 304 (not modified), but was not told what is known';
  if (status > 300 && status < 400) {
    const to =
      location !== undefined && URL.canParse(location, url)
        ? ` to ${shown(new URL(location, url).href)}`
        : '';
    return `it answers ${status}, a redirect${to}. Redirects are not followed: give that URL if you trust it`;
  }
  if (status !== 401 && status !== 403) return `it answers ${status} where 200 is expected`;
  return `it answers ${status}: ${tokenFile === '' ? 'no token file is given' : `the token in ${tokenFile} is not enough`}`;
}
