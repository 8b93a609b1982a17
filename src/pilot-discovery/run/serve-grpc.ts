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
import { clientLimits } from '../push/client-limits.ts';
import { boundedConnections } from './bounded-connections.ts';
import type { DiscoveryConfig, ListenAddress } from './discovery-config.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';

type GrpcSign =
  AdsEvent | Extract<DiscoveryEvent, { readonly type: 'listening' | 'failed' | 'not-taken' }>;

export interface ServeGrpcOptions extends AdsOptions {
  readonly keepalive: DiscoveryConfig['keepalive'];
  /** The largest request, in bytes. */
  readonly largestRequest: number;
}

/** How long a proxy may keep a connection that has reached its age, in ms. As in istiod. */
const grace = 10_000;

/**
 * Serves xDS over gRPC in plain text. Emits `listening`, or `failed` and nothing more; then the
 * events of its streams. Never completes, never errors. Closes all connections on unsubscribe.
 */
export function serveGrpc(
  { host, port }: ListenAddress,
  { keepalive, largestRequest, ...ads }: ServeGrpcOptions,
): Observable<GrpcSign> {
  return new Observable((subscriber) => {
    setLogVerbosity(logVerbosity.NONE); // else stderr repeats returned errors
    const tell: TellRefused = (address, reason) =>
      subscriber.next({ type: 'stream-refused', connection: 0, address, reason });
    const bounds = {
      ofConnection: clientLimits.unfinishedOfConnection.value * largestRequest,
      inAll: clientLimits.unfinishedInAll.value * largestRequest,
    };
    const server = new Server({
      interceptors: [boundedMessages({ ServerInterceptingCall, status }, bounds, tell)],
      'grpc.keepalive_time_ms': keepalive.interval,
      'grpc.keepalive_timeout_ms': keepalive.timeout,
      'grpc.max_receive_message_length': largestRequest,
      // A proxy has one stream on a connection; an agent has one for each Envoy that it starts.
      'grpc.max_concurrent_streams': clientLimits.streamsOfConnection.value,
      'grpc.max_connection_idle_ms': clientLimits.idle.value,
      'grpc-node.max_session_memory': clientLimits.session.value / 1_000_000, // in MB
      'grpc.enable_channelz': 0, // it counts each message, and nobody reads that
      ...(keepalive.age > 0 && {
        'grpc.max_connection_age_ms': keepalive.age,
        'grpc.max_connection_age_grace_ms': Math.min(grace, keepalive.age),
      }),
    });
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const limits = {
      most: clientLimits.connections.value,
      silence: { longest: clientLimits.silence.value, most: clientLimits.silentConnections.value },
    };
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
    const serverAddress = { server: 'grpcAddr', address } as const;
    const listener = createServer((socket) => connections.add(socket));
    tellErrors(
      listener,
      {
        failed: (reason) => subscriber.next({ type: 'failed', ...serverAddress, reason }),
        notTaken: (reason) => subscriber.next({ type: 'not-taken', ...serverAddress, reason }),
      },
      ads.scheduler,
    );
    listener.listen({ port, ...(host !== '' && { host }) }, () =>
      subscriber.next({ type: 'listening', ...serverAddress }),
    );
    return () => {
      listener.close();
      server.forceShutdown();
    };
  });
}
