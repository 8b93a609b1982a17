import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  asyncScheduler,
  concatMap,
  defer,
  map,
  Observable,
  type Observer,
  Subject,
  type Subscriber,
  tap,
} from 'rxjs';
import { ownSocket } from '../files/own-socket.ts';
import { listenOn } from './listen-on.ts';
import { sweepUp } from '../../operators/sweep.ts';
import { ofOwner } from './control-guard.ts';
import { answer, type Handler, type ServerEvent } from './handler.ts';

/**
 * The limit for the time from an answer to the head of the next request, and for the body of a
 * request. In ms.
 */
const timeoutMs = 5_000;
/** The time between two looks for slow connections, while there is a connection. In ms. */
const sweep = 1_000;
/** The longest interval that Node supports. */
const never = 2 ** 31 - 1;
/**
 * A connection without any traffic is closed after this time, even during an answer. A scrape may
 * wait 96 s for its sources. In ms.
 */
const stuck = 120_000;
/**
 * If there are more idle connections than this, the oldest is closed for a new one, so that a probe
 * can always connect.
 */
const mostConnections = 512;

/**
 * Serves the status port on `host`, or, without one, on all interfaces, IPv6 and IPv4. Listens on
 * subscribe; closes the port with all its connections on unsubscribe. `route` returns the handler
 * for a path.
 *
 * Emits `failed`, and nothing more, if the port is not available. Otherwise emits `listening`, then
 * the values of the handlers, and `not-taken` if connections cannot be accepted. Never completes.
 */
export function statusServer<Sign>(
  port: number,
  route: (path: string) => Handler<Sign>,
  host?: string,
): Observable<ServerEvent | Sign> {
  return new Observable((subscriber) => {
    const server = serverOf(route, subscriber);
    return listenOn(server, port, host)
      .pipe(
        map((event) => (event.type === 'not-taken' ? { ...event, server: `port ${port}` } : event)),
      )
      .subscribe(subscriber);
  });
}

/**
 * Serves the routes of the status port on a Unix socket at `path`. Only the user of the agent can
 * open it, and has the rights of a local client. Emits `socket-failed` if the socket is not
 * available, and the values of the handlers. Never completes.
 */
export function statusSocket<Sign>(
  path: string,
  route: (path: string) => Handler<Sign>,
): Observable<ServerEvent | Sign> {
  return new Observable((subscriber) => {
    const server = serverOf(route, subscriber);
    return ownSocket(path)
      .pipe(
        tap((event) => {
          if (event.type !== 'connected') return;
          ofOwner.add(event.socket);
          server.emit('connection', event.socket);
        }),
        concatMap((event): readonly ServerEvent[] => {
          if (event.type === 'failed')
            return [{ type: 'socket-failed', path, reason: event.reason }];
          return event.type === 'not-taken'
            ? [{ type: 'not-taken', server: path, reason: event.reason }]
            : [];
        }),
      )
      .subscribe(subscriber);
  });
}

/** Makes an HTTP server that does not listen yet. */
function serverOf<Sign>(
  route: (path: string) => Handler<Sign>,
  events: Subscriber<ServerEvent | Sign>,
): Server {
  const idle = idleConnections();
  events.add(idle.looks$.subscribe());
  // Node's own check for slow requests would wake an idle agent.
  const options = {
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: timeoutMs,
    connectionsCheckingInterval: never,
  };
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    idle.begin(socket);
    response.once('close', () => idle.end(socket));
    respond(request, response, route, events);
  });
  server.timeout = stuck;
  server.on('connection', (socket: Socket) => {
    idle.add(socket);
    socket.once('close', () => idle.remove(socket));
  });
  return server;
}

/**
 * Watches connections without a request: closes each after a while, and the oldest one as soon as
 * there are too many. `looks$` looks at them each second while there are any. It never completes
 * and never errors.
 */
function idleConnections() {
  const since = new Map<Socket, number>();
  /** How many requests wait for their answers: a client may send several at once. */
  const unanswered = new Map<Socket, number>();
  const added$ = new Subject<void>();
  let looks = 0;
  const look = (): number => {
    looks += 1;
    for (const [socket, first] of since) if (looks - first > timeoutMs / sweep) socket.destroy();
    return since.size;
  };
  function add(socket: Socket): void {
    since.set(socket, looks);
    added$.next();
    const [oldest] = since.keys();
    if (since.size > mostConnections) oldest?.destroy();
  }
  return {
    looks$: sweepUp(added$, sweep, look, asyncScheduler),
    add,
    begin(socket: Socket): void {
      since.delete(socket);
      unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    },
    end(socket: Socket): void {
      const left = (unanswered.get(socket) ?? 1) - 1;
      if (left > 0) unanswered.set(socket, left);
      else {
        unanswered.delete(socket);
        if (!socket.destroyed) add(socket);
      }
    },
    remove(socket: Socket): void {
      since.delete(socket);
      unanswered.delete(socket);
    },
  };
}

function respond<Sign>(
  request: IncomingMessage,
  response: ServerResponse,
  route: (path: string) => Handler<Sign>,
  events: Observer<ServerEvent | Sign>,
): void {
  request.resume(); // nobody needs the body
  const path = request.url?.replace(/\?.*/s, '') ?? '';
  const fail = (error: unknown) => {
    if (response.headersSent) response.destroy();
    else answer(response, 500);
    events.next({
      type: 'request-failed',
      path,
      reason: error instanceof Error ? error.message : String(error),
    });
  };
  const answering = defer(() => route(path)(request, response)).subscribe({
    next: (event) => events.next(event),
    error: fail,
  });
  response.once('close', () => answering.unsubscribe());
}
