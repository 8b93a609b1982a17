import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import { fromEvent, map, merge, Observable, take, takeUntil } from 'rxjs';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import { type GrpcEvent, grpcOnSocket } from '../../shared/grpc/grpc-on-socket.ts';
import { AggregatedDiscoveryService } from '../../shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import {
  type EnvoyRequest,
  type Push,
  pushMessage,
  readRequest,
  type Variant,
} from '../../shared/xds/messages.ts';

/** A stream that an Envoy has opened. */
export interface EnvoyCall {
  readonly variant: Variant;
  /** Its requests. Completes when either side ends the stream. */
  readonly request$: Observable<EnvoyRequest>;
  readonly push: (push: Push) => void;
}

/** An event of the server, or a new stream. */
export type XdsServerEvent = GrpcEvent | { readonly type: 'called'; readonly call: EnvoyCall };

type Call = ServerDuplexStream<
  DiscoveryRequest | DeltaDiscoveryRequest,
  DiscoveryResponse | DeltaDiscoveryResponse
>;

/**
 * An Envoy that does not answer a ping is disconnected. A request may have many names. In ms and
 * bytes.
 */
const options = {
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_receive_message_length': 64 << 20,
};

/**
 * Serves aggregated discovery (ADS, both variants) on a Unix socket at `path`. Emits each stream,
 * and the events of {@link grpcOnSocket}. Never completes, never errors. Closes all streams on
 * unsubscribe.
 */
export function xdsServer(path: string): Observable<XdsServerEvent> {
  const serve$ = (server: Server): Observable<XdsServerEvent> =>
    new Observable((subscriber) => {
      const called = (variant: Variant) => (call: Call) =>
        subscriber.next({ type: 'called', call: envoyCall(variant, call) });
      server.addService(grpcDefinition(AggregatedDiscoveryService), {
        streamAggregatedResources: called('state-of-the-world'),
        deltaAggregatedResources: called('delta'),
      });
    });
  return grpcOnSocket(path, () => Promise.resolve(serve$), { isEager: false, server: options });
}

function envoyCall(variant: Variant, call: Call): EnvoyCall {
  const over$ = merge(...['end', 'cancelled', 'error'].map((event) => fromEvent(call, event))).pipe(
    take(1),
  );
  const message$ = fromEvent(call, 'data') as Observable<DiscoveryRequest | DeltaDiscoveryRequest>;
  return {
    variant,
    request$: message$.pipe(map(readRequest), takeUntil(over$)),
    push: (push) => call.write(pushMessage(variant, push)),
  };
}
