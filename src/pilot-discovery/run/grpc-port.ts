import { createServer, type Socket } from 'node:net';
import { Server, type ServerInterceptor, ServerInterceptingCall, status } from '@grpc/grpc-js';
import { Observable, type SchedulerLike } from 'rxjs';
import { longestTimer } from '../../operators/longest-timer.ts';
import { reportServerErrors } from '../../shared/files/server-errors.ts';
import { boundedMessages, type ReportRefused } from '../../shared/grpc/bounded-messages.ts';
import { clientLimits } from '../push/client-limits.ts';
import type { ServerName } from '../state/discovery-event.ts';
import { boundedConnections } from './bounded-connections.ts';
import type { DiscoveryConfig } from './discovery-config.ts';
import type { ListenAddress } from './setting-reader.ts';

/** How a server of gRPC treats its clients. */
export interface GrpcLimits {
  readonly keepalive: DiscoveryConfig['keepalive'];
  /** The largest request, in bytes. */
  readonly largestRequest: number;
}

/** An event of a port. */
export type PortSign =
  | { readonly type: 'listening'; readonly server: ServerName; readonly address: string }
  | {
      readonly type: 'failed' | 'not-taken';
      readonly server: ServerName;
      readonly address: string;
      readonly reason: string;
    };

/**
 * A connection with a longer age is never closed: gRPC adds up to a tenth to the age, and its timer
 * would end at once.
 */
const longestAge = longestTimer / 1.1;
/** How long a proxy may still use a connection of the maximum age, in ms. As in istiod. */
const grace = 10_000;

/**
 * Returns a server of gRPC that bounds its clients, and listens nowhere.
 *
 * @param interceptors come after the bounds
 * @param tell gets the address of each stream that is refused because of a bound, and the reason
 */
export function boundedServer(
  { keepalive, largestRequest }: GrpcLimits,
  interceptors: readonly ServerInterceptor[],
  tell: ReportRefused,
): Server {
  const bounds = {
    ofConnection: clientLimits.unfinishedOfConnection.value * largestRequest,
    inAll: clientLimits.unfinishedInAll.value * largestRequest,
  };
  return new Server({
    interceptors: [
      boundedMessages({ ServerInterceptingCall, status }, bounds, tell),
      ...interceptors,
    ],
    'grpc.keepalive_time_ms': keepalive.interval,
    'grpc.keepalive_timeout_ms': keepalive.timeout,
    'grpc.max_receive_message_length': largestRequest,
    // A proxy has one stream on a connection; an agent has one for each Envoy that it starts.
    'grpc.max_concurrent_streams': clientLimits.streamsOfConnection.value,
    'grpc.max_connection_idle_ms': clientLimits.idle.value,
    'grpc-node.max_session_memory': clientLimits.session.value / 1_000_000, // in MB
    'grpc.enable_channelz': 0, // it would count each message, and nobody reads the counts
    ...(keepalive.age > 0 &&
      keepalive.age < longestAge && {
        'grpc.max_connection_age_ms': keepalive.age,
        'grpc.max_connection_age_grace_ms': Math.min(grace, keepalive.age),
      }),
  });
}

/** The connections of a port. */
export interface GrpcPort {
  /** Notes that the client at `address` (`IP:port`) is served. */
  readonly noteServed: (address: string) => void;
  /** Closes the connection of the client at `address` at once. */
  readonly cut: (address: string) => void;
  /**
   * Listens. Emits `listening`, or `failed` and nothing more. Never completes, never errors. Stops
   * listening on unsubscribe.
   */
  readonly listen$: (admit: (socket: Socket) => void) => Observable<PortSign>;
}

/** Returns the port at an address, with bounds for its connections. */
export function grpcPort(
  server: ServerName,
  { host, port }: ListenAddress,
  tell: ReportRefused,
  scheduler: SchedulerLike,
): GrpcPort {
  const limits = {
    most: clientLimits.connections.value,
    silence: { longest: clientLimits.silence.value, most: clientLimits.silentConnections.value },
  };
  const connections = boundedConnections(limits, tell, scheduler);
  const address = `${host === '' ? '[::]' : host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    noteServed: connections.noteServed,
    cut: connections.cut,
    listen$: (admit) =>
      new Observable((subscriber) => {
        const listener = createServer((socket) => connections.add(socket, admit));
        reportServerErrors(
          listener,
          {
            failed: (reason) => subscriber.next({ type: 'failed', server, address, reason }),
            notTaken: (reason) => subscriber.next({ type: 'not-taken', server, address, reason }),
          },
          scheduler,
        );
        listener.listen({ port, ...(host !== '' && { host }) }, () =>
          subscriber.next({ type: 'listening', server, address }),
        );
        return () => listener.close();
      }),
  };
}
