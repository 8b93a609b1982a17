import { createServer, type IncomingMessage } from 'node:http';
import { map, Observable, of } from 'rxjs';
import { dumpAnswer, exchangedAnswer, refusedAnswer, type StsAnswer } from './sts-answer.ts';
import { stsRequest } from './sts-request.ts';
import type { TokenExchange } from './token-exchange.ts';

/** What becomes of the token server, and what it has answered to a request for a token: a code of HTTP, with the reason where it is not 200. */
export type StsEvent =
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'answered'; readonly status: number; readonly reason: string };

/** In ms. A token that is on its way is not cut: the exchange has a limit of its own. */
const patience = 5_000;
/** Tokens have a few KiB. In bytes. */
const largestBody = 64 * 1024;

/**
 * Exchanges tokens (RFC 8693) on `port` of the loopback address: listens on subscribe, closes with all its connections on unsubscribe.
 *
 * Emits `listening` or `failed` once, then `answered` for each request for a token. Never completes, never errors if the exchange does not.
 */
export function stsServer(host: '127.0.0.1' | '::1', port: number, tokens: TokenExchange): Observable<StsEvent> {
  return new Observable((subscriber) => {
    const server = createServer({ headersTimeout: patience, requestTimeout: patience, keepAliveTimeout: patience }, (request, response) => {
      const send = ({ status, type, body }: StsAnswer) => {
        const headers = { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-length': Buffer.byteLength(body) };
        response.writeHead(status, { ...headers, 'cache-control': 'no-store' }).end(body);
      };
      const path = request.url?.replace(/\?.*/s, '');
      if (path !== '/token') {
        request.resume();
        send(path === '/stsStatus' ? dumpAnswer(tokens.dump()) : { status: 404, type: 'text/plain; charset=utf-8', body: '404 page not found\n' }); // prettier-ignore
        return;
      }
      read(request, (body) => {
        const answered = answer(request, body, tokens).subscribe({
          next: ({ reason, ...sent }) => {
            send(sent);
            subscriber.next({ type: 'answered', status: sent.status, reason });
          },
          error: (error: unknown) => subscriber.error(error),
        });
        response.once('close', () => answered.unsubscribe());
      });
    });
    server.once('listening', () => subscriber.next({ type: 'listening' }));
    server.once('error', (error) => subscriber.next({ type: 'failed', reason: error.message }));
    server.listen(port, host);
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}

function answer({ method = '', headers }: IncomingMessage, body: string | undefined, tokens: TokenExchange) {
  function refused(reason: string) {
    return of({ ...refusedAnswer(reason), reason });
  }
  // A browser that another site has sent here says so.
  if (headers.origin !== undefined) return refused('requests from other sites are refused');
  if (body === undefined) return refused(`the request is larger than ${largestBody} bytes`);
  const parsed = stsRequest({ method, contentType: headers['content-type'] ?? '', body });
  if (!parsed.ok) return refused(parsed.reason);
  return tokens
    .exchange(parsed.request)
    .pipe(map((exchanged) => ({ ...exchangedAnswer(exchanged), reason: exchanged.ok ? '' : exchanged.reason })));
}

/** Calls back with the body, or undefined where that is too large; not at all where it does not end. */
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
