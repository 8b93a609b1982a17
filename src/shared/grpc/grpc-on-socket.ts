import type { Socket } from 'node:net';
import type * as Grpc from '@grpc/grpc-js';
import { catchError, connect, filter, map, merge, Observable, of, switchMap, take } from 'rxjs';
import { ofType } from '../../operators/tagged-union.ts';
import { ownSocket, type SocketEvent } from '../files/own-socket.ts';
import { boundedMessages } from './bounded-messages.ts';

/** Adds services to the server at once. Emits their events. */
export type ServeGrpc<T> = (server: Grpc.Server, grpc: typeof Grpc) => Observable<T>;

export interface GrpcOptions {
  /** Loads gRPC as soon as the socket listens. Otherwise the first connection loads it. */
  readonly isEager: boolean;
  readonly server: Grpc.ServerOptions;
}

/** The state of the server. `failed` follows `listening` if gRPC cannot be set up. */
export type GrpcEvent = Exclude<SocketEvent, { readonly type: 'connected' }>;

/**
 * Runs a gRPC server on a Unix socket at `path` (see {@link ownSocket}). Emits `listening` or
 * `failed`, then what the services emit. It listens at once. gRPC and the services (`load`) are
 * loaded when they are needed; until then, connections wait.
 *
 * Cold; closes all connections on unsubscribe. Never completes, never errors: if something cannot
 * be loaded, or a service throws or errors, it emits `failed` and stops serving.
 */
export function grpcOnSocket<T extends object>(
  path: string,
  load: () => Promise<ServeGrpc<T>>,
  { isEager, server: options }: GrpcOptions,
): Observable<GrpcEvent | T> {
  return ownSocket(path).pipe(
    connect((event$) => {
      const socket$ = event$.pipe(
        ofType('connected'),
        map(({ socket }) => socket),
      );
      const needed$: Observable<unknown> = isEager ? event$.pipe(ofType('listening')) : socket$;
      const loaded$ = needed$.pipe(
        take(1),
        switchMap(() => Promise.all([import('@grpc/grpc-js'), load()])),
      );
      return merge(
        event$.pipe(filter((event): event is GrpcEvent => event.type !== 'connected')),
        host(socket$, loaded$, options).pipe(
          catchError((error: unknown) =>
            of<GrpcEvent>({ type: 'failed', reason: `gRPC: ${String(error)}` }),
          ),
        ),
      );
    }),
  );
}

/** The default limit of gRPC for a received message, in bytes. */
const usualMessage = 4 << 20;

/**
 * Passes each connection to a gRPC server once gRPC is loaded, and emits what the services emit.
 */
function host<T>(
  socket$: Observable<Socket>,
  loaded$: Observable<readonly [typeof Grpc, ServeGrpc<T>]>,
  options: Grpc.ServerOptions,
): Observable<T> {
  return new Observable<T>((subscriber) => {
    const waiting: Socket[] = [];
    let receive = (socket: Socket): unknown => waiting.push(socket);
    subscriber.add(
      socket$.subscribe({
        next: (socket) => receive(socket),
        error: (error: unknown) => subscriber.error(error),
      }),
    );
    const served$ = loaded$.pipe(
      switchMap(([grpc, serve$]) => {
        grpc.setLogVerbosity(grpc.logVerbosity.NONE); // else stderr repeats returned errors
        const largest = options['grpc.max_receive_message_length'] ?? usualMessage;
        const bounds = { ofConnection: 2 * largest, inAll: 4 * largest };
        const server = new grpc.Server({
          ...options,
          interceptors: [boundedMessages(grpc, bounds)],
        });
        subscriber.add(() => server.forceShutdown());
        const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
        const injected$ = new Observable<never>(() => {
          receive = (socket) => injector.injectConnection(socket);
          waiting
            .splice(0)
            .filter(({ destroyed }) => !destroyed)
            .forEach(receive);
        });
        return merge(serve$(server, grpc), injected$);
      }),
    );
    subscriber.add(served$.subscribe(subscriber));
  });
}
