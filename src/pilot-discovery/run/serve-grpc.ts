import { createServer } from 'node:net';
import {
  logVerbosity,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js';
import { Observable, tap } from 'rxjs';
import { tellErrors } from '../../shared/files/server-errors.ts';
import { boundedMessages, type TellRefused } from '../../shared/grpc/bounded-messages.ts';
import type { AdsEvent } from '../push/ads-event.ts';
import { type AdsOptions, serveAds } from '../push/ads-server.ts';
import { silence } from '../push/first-request.ts';
import { boundedConnections } from './bounded-connections.ts';
import type { DiscoveryConfig, ListenAddress } from './discovery-config.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';

type GrpcSign =
  AdsEvent | Extract<DiscoveryEvent, { readonly type: 'listening' | 'failed' | 'not-taken' }>;

export interface ServeGrpcOptions extends AdsOptions {
  readonly keepalive: DiscoveryConfig['keepalive'];
  /** In bytes. */
  readonly largestRequest: number;
}

/** A proxy has one stream on a connection; an agent has one for each Envoy that it starts. */
const mostStreams = 100;

/** Of all proxies; a control plane of more is a fleet of them. */
const mostConnections = 10_000;

/** So many of the largest requests may be under way, on a connection and in all. */
const unfinished = { ofConnection: 2, inAll: 16 };

/** In MB: what HTTP/2 keeps for a client that does not read; then it takes no new stream. */
const sessionMemory = 64;

/** So long a proxy may go on with a connection that it is to make anew, in ms. As in istiod. */
const grace = 10_000;

/** A connection without a stream is closed after so many ms. */
const longestIdle = 300_000;

/**
 * Serves xDS over gRPC in plain text: emits `listening`, or `failed` and nothing more, and what
 * happens on the streams. Never completes, never errors. Unsubscribing closes all connections.
 */
export function serveGrpc(
  { host, port }: ListenAddress,
  { keepalive, largestRequest, ...ads }: ServeGrpcOptions,
): Observable<GrpcSign> {
  return new Observable((subscriber) => {
    setLogVerbosity(logVerbosity.NONE); // it writes to stderr what comes back as a reason
    const tell: TellRefused = (address, reason) =>
      subscriber.next({ type: 'stream-refused', connection: 0, address, reason });
    const bounds = {
      ofConnection: unfinished.ofConnection * largestRequest,
      inAll: unfinished.inAll * largestRequest,
    };
    const server = new Server({
      interceptors: [boundedMessages({ ServerInterceptingCall, status }, bounds, tell)],
      'grpc.keepalive_time_ms': keepalive.interval,
      'grpc.keepalive_timeout_ms': keepalive.timeout,
      'grpc.max_receive_message_length': largestRequest,
      'grpc.max_concurrent_streams': mostStreams,
      'grpc.max_connection_idle_ms': longestIdle,
      'grpc-node.max_session_memory': sessionMemory,
      'grpc.enable_channelz': 0, // it counts each message, for nobody
      ...(keepalive.age > 0 && {
        'grpc.max_connection_age_ms': keepalive.age,
        'grpc.max_connection_age_grace_ms': Math.min(grace, keepalive.age),
      }),
    });
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const limits = { most: mostConnections, silence };
    const connections = boundedConnections(
      limits,
      (socket) => injector.injectConnection(socket),
      tell,
      ads.scheduler,
    );
    const event$ = serveAds(server, ads).pipe(
      tap((event) => {
        if (event.type === 'connected') connections.asked(event.address);
      }),
    );
    subscriber.add(event$.subscribe(subscriber));
    const address = `${host === '' ? '[::]' : host.includes(':') ? `[${host}]` : host}:${port}`;
    const told = { server: 'grpcAddr', address } as const;
    const listener = createServer((socket) => connections.add(socket));
    tellErrors(
      listener,
      {
        failed: (reason) => subscriber.next({ type: 'failed', ...told, reason }),
        notTaken: (reason) => subscriber.next({ type: 'not-taken', ...told, reason }),
      },
      ads.scheduler,
    );
    listener.listen({ port, ...(host !== '' && { host }) }, () =>
      subscriber.next({ type: 'listening', ...told }),
    );
    return () => {
      listener.close();
      server.forceShutdown();
    };
  });
}
