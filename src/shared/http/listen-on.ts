import type { Server } from 'node:http';
import { Observable } from 'rxjs';
import { reportServerErrors } from '../files/server-errors.ts';

/** An event of a server on a port. */
export type PortEvent =
  | { readonly type: 'listening' }
  /** It cannot listen. */
  | { readonly type: 'failed'; readonly reason: string }
  /** A connection could not be accepted. The next one may be. */
  | { readonly type: 'not-taken'; readonly reason: string };

/**
 * Listens on subscribe, on all interfaces if there is no `host`; closes the server with all its
 * connections on unsubscribe. Emits `failed`, or `listening` and then `not-taken` if connections
 * cannot be accepted. Errors if other code closes the server. Never completes.
 */
export function listenOn(server: Server, port: number, host?: string): Observable<PortEvent> {
  return new Observable((subscriber) => {
    server.once('listening', () => {
      subscriber.next({ type: 'listening' });
      server.on('close', () => subscriber.error(new Error('the server was closed')));
    });
    reportServerErrors(server, {
      failed: (reason) => subscriber.next({ type: 'failed', reason }),
      notTaken: (reason) => subscriber.next({ type: 'not-taken', reason }),
    });
    server.listen(port, host);
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}
