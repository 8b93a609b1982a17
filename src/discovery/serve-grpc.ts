import { Server, ServerCredentials, setLogVerbosity, logVerbosity } from '@grpc/grpc-js';
import { Observable } from 'rxjs';
import type { AdsEvent } from '../push/ads-event.ts';
import { type AdsOptions, serveAds } from '../push/ads-server.ts';
import type { DiscoveryConfig, ListenAddress } from './discovery-config.ts';
import type { DiscoveryEvent } from './discovery-event.ts';

type GrpcSign = AdsEvent | Extract<DiscoveryEvent, { readonly type: 'listening' | 'failed' }>;

export interface ServeGrpcOptions extends AdsOptions {
  readonly keepalive: DiscoveryConfig['keepalive'];
}

/** A request may name many resources. In bytes. */
const largestRequest = 64 << 20;

/** So long a proxy may go on with a connection that it is to make anew, in ms. As in istiod. */
const grace = 10_000;

/**
 * Serves xDS over gRPC in plain text: emits `listening`, or `failed` and nothing more, and what
 * happens on the streams. Never completes, never errors. Unsubscribing closes all connections.
 */
export function serveGrpc({ host, port }: ListenAddress, { keepalive, ...ads }: ServeGrpcOptions): Observable<GrpcSign> {
  return new Observable((subscriber) => {
    setLogVerbosity(logVerbosity.NONE); // it writes to stderr what comes back as a reason
    const server = new Server({
      'grpc.keepalive_time_ms': keepalive.interval,
      'grpc.keepalive_timeout_ms': keepalive.timeout,
      'grpc.max_receive_message_length': largestRequest,
      'grpc.enable_channelz': 0, // it counts each message, for nobody
      ...(keepalive.age > 0 && {
        'grpc.max_connection_age_ms': keepalive.age,
        'grpc.max_connection_age_grace_ms': Math.min(grace, keepalive.age),
      }),
    });
    subscriber.add(serveAds(server, ads).subscribe(subscriber));
    const address = `${host === '' ? '[::]' : host.includes(':') ? `[${host}]` : host}:${port}`;
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
      const told = { server: 'grpcAddr', address } as const;
      subscriber.next(error === null ? { type: 'listening', ...told } : { type: 'failed', ...told, reason: error.message });
    });
    return () => server.forceShutdown();
  });
}
