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

/** A request for `/token` as it came. */
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
 * What a request for a token says (RFC 8693 §2.1), or the first thing that is wrong with it, in the
 * order and the words of the Go agent, which wants the content type without parameters. Pure.
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

/** What was wrong with a request, as RFC 6749 §5.2 has it. Pure. */
function refusedAnswer(reason: string): StsAnswer {
  return json(400, { error: 'invalid_request', error_description: reason, error_uri: '' });
}

/**
 * What came of an exchange (RFC 8693 §2.2). Who asks can do nothing about a failure: so it is a
 * 500, as in the Go agent. Pure.
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

/** Which tokens there are; never the tokens. Pure. */
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
 * What becomes of the token server, and what it has answered to a request for a token: a code of
 * HTTP, with the reason where it is not 200, and how long that took, in ms.
 */
export type StsEvent =
  | PortEvent
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly reason: string;
      readonly took: number;
    };

/** In ms. A token that is on its way is not cut: the exchange has a limit of its own. */
const timeoutMs = 5_000;
/** Tokens have a few KiB. In bytes. */
const largestBody = 64 * 1024;

/**
 * Exchanges tokens (RFC 8693) on `port` of the loopback address: listens on subscribe, closes with
 * all its connections on unsubscribe.
 *
 * Emits `listening` or `failed` once, then `answered` for each request for a token; where the
 * exchange fails, that is an answer too. Never completes.
 *
 * @param exchange$ emits the exchange that is asked, to each subscriber; a request for a token
 * waits for it
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
  // A browser that another site has sent here says so.
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

/** Where there is no answer because of a bug. */
function failedAnswer(error: unknown): StsAnswer & { readonly reason: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return { ...exchangedAnswer({ ok: false, reason }), reason };
}

/** Which tokens there are now. While the exchange is not known there is none. */
function status(exchange$: Observable<TokenExchange>): Observable<StsAnswer> {
  return merge(exchange$, of(noTokenExchange)).pipe(
    take(1),
    map((tokens) => dumpAnswer(tokens.dump())),
  );
}

/**
 * Calls back with the body, or undefined where that is too large; not at all where it does not end.
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
