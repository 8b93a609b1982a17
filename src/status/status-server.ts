import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { defer, Observable, type Observer } from 'rxjs';
import { answer, type Handler, type StatusEvent } from './handler.ts';
/** For the head of a request, for the rest of it, and between two of them. In ms. */
const timeoutMs = 5_000;
/** How often what is too slow is looked for. In ms. */
const sweep = 1_000;
/**
 * A connection on which nothing moves, not even an answer: it is longer than any answer is thought
 * over. In ms.
 */
const stuck = 60_000;
/**
 * Of those that ask nothing the oldest makes room for a new one, so that a probe finds an open
 * door.
 */
const mostConnections = 512;

/**
 * Serves the status port on all interfaces, IPv6 and IPv4: listens on subscribe, closes with all
 * its connections on unsubscribe. `route` has the handler for a path.
 *
 * Emits `failed`, and nothing more, if the port is not to be had; otherwise `listening`, and then
 * what the handlers emit. Errors if the server breaks later. Never completes.
 */
export function statusServer(port: number, route: (path: string) => Handler): Observable<StatusEvent> {
  return new Observable((subscriber) => {
    const options = {
      headersTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      keepAliveTimeout: timeoutMs,
      connectionsCheckingInterval: sweep,
    };
    const idle = new Set<Socket>();
    const server = createServer(options, (request, response) => {
      const { socket } = request;
      idle.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) idle.add(socket);
      });
      respond(request, response, route, subscriber);
    });
    server.timeout = stuck;
    server.on('connection', (socket: Socket) => {
      idle.add(socket);
      socket.once('close', () => idle.delete(socket));
      const [oldest] = idle;
      if (idle.size > mostConnections) oldest?.destroy();
    });

    let hasListened = false;
    server.once('listening', () => {
      hasListened = true;
      subscriber.next({ type: 'listening' });
      server.on('close', () => subscriber.error(new Error('the server was closed')));
    });
    server.on('error', (error) => {
      if (hasListened) subscriber.error(error);
      else subscriber.next({ type: 'failed', reason: error.message });
    });
    server.listen(port);
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  route: (path: string) => Handler,
  events: Observer<StatusEvent>,
): void {
  request.resume(); // what comes with it is nobody's affair
  const path = request.url?.replace(/\?.*/s, '') ?? '';
  const fail = (error: unknown) => {
    if (response.headersSent) response.destroy();
    else answer(response, 500);
    events.next({ type: 'request-failed', path, reason: error instanceof Error ? error.message : String(error) });
  };
  const answering = defer(() => route(path)(request, response)).subscribe({ next: (event) => events.next(event), error: fail });
  response.once('close', () => answering.unsubscribe());
}
