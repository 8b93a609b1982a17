import type * as Grpc from '@grpc/grpc-js';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import {
  asyncScheduler,
  concat,
  connect,
  defer,
  filter,
  map,
  merge,
  Observable,
  of,
  type SchedulerLike,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  timer,
  withLatestFrom,
} from 'rxjs';
import { settle } from '../../operators/settle.ts';
import { grpcClient } from '../grpc/grpc-client.ts';
import { grpcDefinition } from '../grpc/grpc-definition.ts';
import { troubleOf } from '../grpc/trouble.ts';
import { AggregatedDiscoveryService } from '../proto/envoy/service/discovery/v3/ads_pb.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Variant } from './messages.ts';

/** How a client connects, and how it authenticates itself. */
export interface AdsCredentials {
  /** `host:port`. */
  readonly address: string;
  readonly credentials: Grpc.ChannelCredentials;
  /** Metadata of the call, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** How the client authenticates itself, for the log. */
  readonly shown: 'token' | 'certificate' | 'nothing';
  /** The largest answer, in bytes. */
  readonly largest: number;
  /** The name that the server is asked for in TLS; its host if left out or empty. */
  readonly serverName?: string;
}

type AdsRequest = DiscoveryRequest | DeltaDiscoveryRequest;

/** An answer of either variant. */
export type AdsAnswer = DiscoveryResponse | DeltaDiscoveryResponse;

/** An event of one connection. */
export type AdsLinkEvent =
  /** Requests can be sent. They wait until it is connected. */
  | { readonly type: 'opened' }
  | { readonly type: 'connected' }
  | { readonly type: 'answered'; readonly answer: AdsAnswer }
  | { readonly type: 'unanswered'; readonly reason: string }
  | { readonly type: 'lost'; readonly reason: string };

/**
 * How long the server may be silent until that is reported, and until the connection is closed. In
 * ms.
 */
const silence = { reported: 4_000, lost: 30_000 };
/**
 * A server that does not answer a ping is disconnected. Each connection has a separate pool, so
 * that a new attempt does not fail because of an earlier one. In ms.
 */
const options = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/**
 * Runs one aggregated stream (ADS) over a separate connection. Emits `opened`, `connected`, then
 * each answer; emits `unanswered` if there is none within 4 s. Emits `lost` at the end, after at
 * most 30 s without an answer, and completes. Cold; never errors. Disconnects on unsubscribe. Loads
 * gRPC.
 *
 * @param open prepares a connection; it may reject with the reason why there is none
 */
export function adsLink(
  open: (grpc: typeof Grpc, now: number) => Promise<AdsCredentials>,
  variant: Variant,
  request$: Observable<AdsRequest>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AdsLinkEvent> {
  return defer(async () => {
    const grpc = await import('@grpc/grpc-js');
    return { grpc, opened: await open(grpc, scheduler.now()) };
  }).pipe(
    settle(),
    switchMap((ready) =>
      ready.ok
        ? stream(ready.value.grpc, ready.value.opened, variant, request$)
        : of<AdsLinkEvent>({ type: 'lost', reason: (ready.error as Error).message }),
    ),
    connect((event$) => merge(event$, silent(event$, scheduler))),
    takeWhile(({ type }) => type !== 'lost', true),
  );
}

/** Emits the events of a server that does not answer. */
function silent(
  event$: Observable<AdsLinkEvent>,
  scheduler: SchedulerLike,
): Observable<AdsLinkEvent> {
  const what$ = event$.pipe(
    filter(({ type }) => type === 'connected'),
    map(() => 'it does not answer'),
    startWith('no connection is established'),
  );
  return concat(
    timer(silence.reported, scheduler).pipe(map(() => 'unanswered' as const)),
    timer(silence.lost - silence.reported, scheduler).pipe(map(() => 'lost' as const)),
  ).pipe(
    withLatestFrom(what$),
    map(([type, reason]): AdsLinkEvent => ({ type, reason })),
    takeUntil(
      event$.pipe(
        filter(({ type }) => type === 'answered' || type === 'lost'),
        take(1),
      ),
    ),
  );
}

function stream(
  grpc: typeof Grpc,
  { address, credentials, metadata, shown, largest, serverName = '' }: AdsCredentials,
  variant: Variant,
  request$: Observable<AdsRequest>,
): Observable<AdsLinkEvent> {
  return new Observable((subscriber) => {
    const methods = grpcDefinition(AggregatedDiscoveryService);
    const method =
      methods[variant === 'delta' ? 'deltaAggregatedResources' : 'streamAggregatedResources'];
    if (method === undefined) throw new Error('the service has no such method');
    const client = grpcClient(grpc, address, credentials, {
      ...options,
      'grpc.max_receive_message_length': largest,
      ...(serverName !== '' && { 'grpc.ssl_target_name_override': serverName }),
    });
    const sent = new grpc.Metadata();
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
    const call = client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      sent,
    ) as unknown as ClientDuplexStream<AdsRequest, AdsAnswer>;
    call.on('metadata', () => subscriber.next({ type: 'connected' }));
    call.on('data', (answer: AdsAnswer) => subscriber.next({ type: 'answered', answer }));
    call.on('error', (error: ServiceError) =>
      subscriber.next({ type: 'lost', reason: troubleOf(error, shown) }),
    );
    call.on('end', () => subscriber.next({ type: 'lost', reason: 'it has ended the stream' }));
    client.waitForReady(Infinity, () => subscriber.next({ type: 'connected' }));
    const asking = request$.subscribe({
      next: (request) => call.write(request),
      error: (error: unknown) => subscriber.error(error),
    });
    subscriber.next({ type: 'opened' }); // last, because the subscriber sends requests at once
    return () => {
      asking.unsubscribe();
      call.cancel();
      client.close();
    };
  });
}
