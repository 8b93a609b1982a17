import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';

/**
 * Answers one request, on subscribe. May emit signs: an order to the program, such as a drain, or
 * an event, such as a failed probe. When the connection ends, it is unsubscribed, which cancels the
 * answer. An error is answered by 500.
 */
export type Handler<Sign = never> = (
  request: IncomingMessage,
  response: ServerResponse,
) => Observable<Sign>;

/** Sends a whole answer: a status, and a line of text if there is one. */
export function answer(
  response: ServerResponse,
  status: number,
  body = '',
  headers: OutgoingHttpHeaders = {},
): void {
  const text = body === '' ? '' : `${body}\n`;
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}

/** An event of a server. */
export type ServerEvent =
  | { readonly type: 'listening' }
  /** It cannot listen. */
  | { readonly type: 'failed'; readonly reason: string }
  /** A connection could not be accepted. The server goes on. */
  | { readonly type: 'not-taken'; readonly server: string; readonly reason: string }
  /** The socket at `path` cannot be listened on. A port is not affected. */
  | { readonly type: 'socket-failed'; readonly path: string; readonly reason: string }
  /** A request could not be answered. */
  | { readonly type: 'request-failed'; readonly path: string; readonly reason: string };
