import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Observable, take } from 'rxjs';

/** What becomes of the status server, and what is asked of it. */
export type StatusEvent =
  { readonly type: 'listening' } | { readonly type: 'failed'; readonly reason: string } | { readonly type: 'quit-requested' };

/** In ms. */
const patience = 5_000;

/**
 * Serves the status port on all interfaces: listens on subscribe, closes with all its connections on unsubscribe.
 *
 * Emits `listening` or `failed` once, then each request to quit. Never completes, never errors. `unready$` is asked once for each probe: it emits
 * why the agent is not ready, or undefined.
 */
export function statusServer(port: number, unready$: Observable<string | undefined>): Observable<StatusEvent> {
  return new Observable((subscriber) => {
    const server = createServer({ headersTimeout: patience, requestTimeout: patience, keepAliveTimeout: patience }, (request, response) => {
      request.resume();
      switch (request.url?.replace(/\?.*/s, '')) {
        case '/healthz/ready': {
          const asked = unready$.pipe(take(1)).subscribe({
            next: (reason) => (reason === undefined ? answer(response, 200) : answer(response, 503, reason)),
            error: (error: unknown) => subscriber.error(error),
          });
          response.once('close', () => asked.unsubscribe());
          return;
        }
        case '/quitquitquit':
          quit(request, response, () => subscriber.next({ type: 'quit-requested' }));
          return;
        default:
          answer(response, 404, '404 page not found');
      }
    });
    server.once('listening', () => subscriber.next({ type: 'listening' }));
    server.once('error', (error) => subscriber.next({ type: 'failed', reason: error.message }));
    server.listen(port);
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}

function quit(request: IncomingMessage, response: ServerResponse, onQuit: () => void): void {
  const refusal = refuse(request);
  if (refusal !== undefined) answer(response, ...refusal);
  else {
    answer(response, 200, 'OK');
    onQuit();
  }
}

/** Who may change something: a program on this machine, by POST. A browser that another site has sent here says so. */
function refuse({ socket, method, headers }: IncomingMessage): readonly [number, string] | undefined {
  if (!/^(::1$|(::ffff:)?127\.)/.test(socket.remoteAddress ?? '')) return [403, 'Only requests from localhost are allowed'];
  if (method !== 'POST') return [405, 'Method Not Allowed'];
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    return [403, 'Requests from other sites are refused'];
  return undefined;
}

function answer(response: ServerResponse, status: number, body = ''): void {
  const text = body === '' ? '' : `${body}\n`;
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(text),
  };
  response.writeHead(status, headers).end(text);
}
