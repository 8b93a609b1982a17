import { createServer, type IncomingMessage } from 'node:http';
import {
  asyncScheduler,
  catchError,
  defer,
  map,
  merge,
  Observable,
  of,
  switchMap,
  take,
} from 'rxjs';
import { listenOn, type PortEvent } from '../../shared/http/listen-on.ts';
import {
  type Exchanged,
  type ExchangeRequest,
  noTokenExchange,
  type TokenDump,
  type TokenExchange,
} from './token-exchange.ts';

/** A request for `/token`, before it is parsed. */
interface RawStsRequest {
  readonly method: string;
  readonly contentType: string;
  readonly body: string;
}

type StsRequest =
  | { readonly ok: true; readonly request: ExchangeRequest }
  | { readonly ok: false; readonly reason: string };

const form = 'application/x-www-form-urlencoded';
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwt = 'urn:ietf:params:oauth:token-type:jwt';

/**
 * Parses a request for a token (RFC 8693 §2.1), or returns its first flaw, in the order and the
 * words of the Go agent, which expects the content type without parameters. Pure.
 */
function stsRequest({ method, contentType, body }: RawStsRequest): StsRequest {
  const invalid = (what: string, expected: string, actual: string): StsRequest => {
    return { ok: false, reason: `${what} is invalid, expected ${expected} and actual ${actual}` };
  };
  if (method !== 'POST') return invalid('request method', 'POST', method);
  if (contentType !== form) return invalid('request content type', form, contentType);
  const fields = new URLSearchParams(body);
  const field = (name: string) => fields.get(name) ?? '';
  if (field('grant_type') !== exchange)
    return invalid('request query grant_type', exchange, field('grant_type'));
  if (field('subject_token') === '') return { ok: false, reason: 'subject_token is empty' };
  if (field('subject_token_type') !== jwt)
    return invalid('subject_token_type', jwt, field('subject_token_type'));
  return { ok: true, request: { subjectToken: field('subject_token'), scope: field('scope') } };
}

export interface StsAnswer {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string;
}

/** Makes the response to a wrong request, as in RFC 6749 §5.2. Pure. */
function refusedAnswer(reason: string): StsAnswer {
  return json(400, { error: 'invalid_request', error_description: reason, error_uri: '' });
}

/**
 * Makes the response for an exchange (RFC 8693 §2.2). The client can do nothing about a failure: so
 * it is a 500, as in the Go agent. Pure.
 */
function exchangedAnswer(exchanged: Exchanged): StsAnswer {
  if (!exchanged.ok)
    return json(500, {
      error: 'invalid_target',
      error_description: exchanged.reason,
      error_uri: '',
    });
  return json(200, {
    access_token: exchanged.accessToken,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: exchanged.expiresIn,
    scope: '',
    refresh_token: '',
  });
}

/** Makes the response that lists the tokens, without the tokens themselves. Pure. */
function dumpAnswer(dump: TokenDump): StsAnswer {
  if (!dump.ok)
    return {
      status: 500,
      type: 'text/plain; charset=utf-8',
      body: `failure in dumping STS server status: ${dump.reason}\n`,
    };
  const time = (ms: number) => new Date(ms).toISOString();
  const tokens = dump.tokens.map(({ type, issued, expires }) => {
    return { token_type: type, issue_time: time(issued), expire_time: time(expires), token: '' };
  });
  return json(200, { tokens });
}

const notFound: StsAnswer = {
  status: 404,
  type: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
};

function json(status: number, value: object): StsAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}

/**
 * An event of the token server: of its port, or a response to a request for a token, with the HTTP
 * status, the reason if that is not 200, and the time that it took, in ms.
 */
export type StsEvent =
  | PortEvent
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly reason: string;
      readonly took: number;
    };

/** In ms. It does not interrupt a running exchange, which has its own limit. */
const timeoutMs = 5_000;
/** In bytes. Tokens have a few KiB. */
const largestBody = 64 * 1024;

/**
 * Exchanges tokens (RFC 8693) on `port` of the loopback address. Listens on subscribe; closes the
 * port with all its connections on unsubscribe.
 *
 * Emits `listening` or `failed` once, then `answered` for each request for a token, also if the
 * exchange fails. Never completes.
 *
 * @param exchange$ emits the exchange to use, to each subscriber; a request for a token waits for
 * it
 */
export function stsServer(
  host: '127.0.0.1' | '::1',
  port: number,
  exchange$: Observable<TokenExchange>,
): Observable<StsEvent> {
  return new Observable((subscriber) => {
    const fail = (error: unknown) => subscriber.error(error);
    const server = createServer(
      { headersTimeout: timeoutMs, requestTimeout: timeoutMs, keepAliveTimeout: timeoutMs },
      (request, response) => {
        const send = ({ status, type, body }: StsAnswer) => {
          const headers = {
            'content-type': type,
            'x-content-type-options': 'nosniff',
            'content-length': Buffer.byteLength(body),
          };
          response.writeHead(status, { ...headers, 'cache-control': 'no-store' }).end(body);
        };
        const path = request.url?.replace(/\?.*/s, '');
        if (path !== '/token') {
          request.resume();
          const answer$ = path === '/stsStatus' ? status(exchange$) : of(notFound);
          answer$
            .pipe(catchError((error: unknown) => of(failedAnswer(error))))
            .subscribe({ next: send, error: fail });
          return;
        }
        read(request, (body) => {
          const begun = asyncScheduler.now();
          const answer$ = defer(() => answer(request, body, exchange$)).pipe(
            catchError((error: unknown) => of(failedAnswer(error))),
          );
          const answered = answer$.subscribe({
            next: ({ reason, ...sent }) => {
              send(sent);
              subscriber.next({
                type: 'answered',
                status: sent.status,
                reason,
                took: asyncScheduler.now() - begun,
              });
            },
            error: fail,
          });
          response.once('close', () => answered.unsubscribe());
        });
      },
    );
    return listenOn(server, port, host).subscribe(subscriber);
  });
}

function answer(
  { method = '', headers }: IncomingMessage,
  body: string | undefined,
  exchange$: Observable<TokenExchange>,
) {
  function refused(reason: string) {
    return of({ ...refusedAnswer(reason), reason });
  }
  // A browser sets this header if another site caused the request.
  if (headers.origin !== undefined) return refused('requests from other sites are refused');
  if (body === undefined) return refused(`the request is larger than ${largestBody} bytes`);
  const parsed = stsRequest({ method, contentType: headers['content-type'] ?? '', body });
  if (!parsed.ok) return refused(parsed.reason);
  return exchange$.pipe(
    take(1),
    switchMap((tokens) => tokens.exchange(parsed.request)),
    map((exchanged) => ({
      ...exchangedAnswer(exchanged),
      reason: exchanged.ok ? '' : exchanged.reason,
    })),
  );
}

/** Makes the response if a bug prevents an answer. */
function failedAnswer(error: unknown): StsAnswer & { readonly reason: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return { ...exchangedAnswer({ ok: false, reason }), reason };
}

/** Emits the response about the current tokens. Until the exchange is known, there is none. */
function status(exchange$: Observable<TokenExchange>): Observable<StsAnswer> {
  return merge(exchange$, of(noTokenExchange)).pipe(
    take(1),
    map((tokens) => dumpAnswer(tokens.dump())),
  );
}

/**
 * Calls back with the body, or undefined if it is too large. Does not call back if the body does
 * not end.
 */
function read(request: IncomingMessage, then: (body: string | undefined) => void): void {
  let body = '';
  let bytes = 0;
  request.setEncoding('latin1'); // a form is ASCII
  request.on('data', (piece: string) => {
    bytes += piece.length;
    if (bytes <= largestBody) body += piece;
  });
  request.on('end', () => then(bytes <= largestBody ? body : undefined));
}
