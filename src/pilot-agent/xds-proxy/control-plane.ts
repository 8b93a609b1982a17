import type * as Grpc from '@grpc/grpc-js';
import type { ClientDuplexStream, ServiceError, VerifyOptions } from '@grpc/grpc-js';
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
import { neededFile, tokenIn } from '../../shared/files/needed-file.ts';
import { largest } from '../../shared/files/outside-file.ts';
import { type GrpcClientTls, grpcClient, tlsCredentials } from '../../shared/grpc/grpc-client.ts';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import { settle } from '../../operators/settle.ts';
import { AggregatedDiscoveryService } from '../../shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
  Node,
} from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { type Ask, askMessage, readResponse, type Variant } from '../../shared/xds/messages.ts';
import type { Update } from '../../shared/xds/resources.ts';
import { readOwnPair } from '../secrets/own-pair.ts';
import { nameFlaw, openSslReason, troubleOf } from '../../shared/grpc/trouble.ts';

/** How the agent reaches the control plane. Files are read again for each connection. */
export interface ControlPlaneAddress {
  /** `host:port`. */
  readonly address: string;
  /** Undefined for plaintext. */
  readonly tls:
    | {
        /** The file of the roots that verify the control plane. */
        readonly roots: string;
        /**
         * The names of which its certificate must have one, each with its type in front: `DNS:…`,
         * `URI:…`.
         */
        readonly names: readonly string[];
        /** The files of the agent's certificate and key; undefined for none. */
        readonly pair: { readonly chain: string; readonly key: string } | undefined;
        /**
         * Returns the pair (PEM) that an authority has issued, if any. The agent presents it
         * instead.
         */
        readonly issued?: () => { readonly chain: string; readonly key: Buffer } | undefined;
        /** The file of the token, which is sent if no pair works; undefined for none. */
        readonly token: string | undefined;
      }
    | undefined;
  /** Sent as `ClusterID`; empty for none. */
  readonly clusterId: string;
}

/** An event of one connection. */
export type LinkEvent =
  /** Requests can be sent. They wait until it is connected. */
  | { readonly type: 'opened' }
  | { readonly type: 'connected' }
  | { readonly type: 'updated'; readonly update: Update }
  | { readonly type: 'unanswered'; readonly reason: string }
  | { readonly type: 'lost'; readonly reason: string };

/** A request for the control plane. The first one has the node. */
export interface Question {
  readonly ask: Ask;
  readonly node: Node | undefined;
}

/**
 * How long the control plane may be silent until that is logged, and until the connection is
 * closed. In ms.
 */
const silence = { reported: 4_000, lost: 30_000 };
/**
 * A control plane that does not answer a ping is disconnected. Answers may be large; the limit only
 * stops an extreme one. In ms and bytes. Each connection has a separate pool, so that a new attempt
 * does not fail because of an earlier one.
 */
const options = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': 512 << 20,
};

/**
 * Runs one aggregated stream (ADS) to the control plane over a separate connection. Emits `opened`,
 * `connected`, then each answer; emits `unanswered` if there is none within 4 s. Emits `lost` at
 * the end, after at most 30 s without an answer, and completes. Cold; never errors. Disconnects on
 * unsubscribe. Loads gRPC.
 */
export function controlPlane(
  target: ControlPlaneAddress,
  variant: Variant,
  question$: Observable<Question>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<LinkEvent> {
  return defer(async () => {
    const grpc = await import('@grpc/grpc-js');
    return { grpc, ...(await credentialsOf(target, grpc, scheduler.now())) };
  }).pipe(
    settle(),
    switchMap((ready) =>
      ready.ok
        ? stream(target, variant, question$, ready.value)
        : of<LinkEvent>({ type: 'lost', reason: (ready.error as Error).message }),
    ),
    connect((event$) => merge(event$, silent(event$, scheduler))),
    takeWhile(({ type }) => type !== 'lost', true),
  );
}

/** Emits the events of a control plane that does not answer. */
function silent(event$: Observable<LinkEvent>, scheduler: SchedulerLike): Observable<LinkEvent> {
  const what$ = event$.pipe(
    filter(({ type }) => type === 'connected'),
    map(() => 'it does not answer'),
    startWith('no connection comes about'),
  );
  return concat(
    timer(silence.reported, scheduler).pipe(map(() => 'unanswered' as const)),
    timer(silence.lost - silence.reported, scheduler).pipe(map(() => 'lost' as const)),
  ).pipe(
    withLatestFrom(what$),
    map(([type, reason]): LinkEvent => ({ type, reason })),
    takeUntil(
      event$.pipe(
        filter(({ type }) => type === 'updated' || type === 'lost'),
        take(1),
      ),
    ),
  );
}

interface Ready {
  readonly grpc: typeof Grpc;
  readonly credentials: Grpc.ChannelCredentials;
  readonly token: string;
}

async function credentialsOf(
  { tls }: ControlPlaneAddress,
  grpc: typeof Grpc,
  now: number,
): Promise<Omit<Ready, 'grpc'>> {
  if (tls === undefined) return { credentials: grpc.credentials.createInsecure(), token: '' };
  const { names } = tls;
  const [roots, { pair, token }] = await Promise.all([
    neededFile('the root that vouches for it', tls.roots, largest.pem),
    proofOf(tls, now),
  ]);
  const checkServerIdentity: VerifyOptions['checkServerIdentity'] = (_, { subjectaltname }) =>
    nameFlaw(subjectaltname, names);
  try {
    return { credentials: tlsCredentials(grpc, { roots, pair, checkServerIdentity }), token };
  } catch (error) {
    throw new Error(
      `the certificate or the key of the agent cannot be used: ${openSslReason((error as Error).message)}`,
    );
  }
}

/** Returns how the agent authenticates itself: by a pair, or by the token if no pair works. */
async function proofOf(
  tls: NonNullable<ControlPlaneAddress['tls']>,
  now: number,
): Promise<Pick<GrpcClientTls, 'pair'> & { token: string }> {
  const latest = tls.issued?.();
  const issued = latest && { chain: Buffer.from(latest.chain), key: latest.key };
  const token = async () => (tls.token === undefined ? '' : tokenIn('the token', tls.token));
  if (tls.pair === undefined) return { pair: issued, token: await token() };
  if (issued !== undefined) return { pair: issued, token: '' };
  const ownPair = await readOwnPair(tls.pair, now);
  if (ownPair.ok) return { pair: ownPair.pair, token: '' };
  if (tls.token === undefined) throw new Error(ownPair.reason);
  return {
    pair: undefined,
    token: await token().catch((error: unknown) =>
      Promise.reject(new Error(`${ownPair.reason}; ${(error as Error).message}`)),
    ),
  };
}

type Answer = DiscoveryResponse | DeltaDiscoveryResponse;

function stream(
  { address, tls, clusterId }: ControlPlaneAddress,
  variant: Variant,
  question$: Observable<Question>,
  { grpc, credentials, token }: Ready,
): Observable<LinkEvent> {
  return new Observable((subscriber) => {
    const methods = grpcDefinition(AggregatedDiscoveryService);
    const method =
      methods[variant === 'delta' ? 'deltaAggregatedResources' : 'streamAggregatedResources'];
    if (method === undefined) throw new Error('the service has no such method');
    const client = grpcClient(grpc, address, credentials, options);
    const metadata = new grpc.Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    if (clusterId !== '') metadata.set('ClusterID', clusterId);
    const call = client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
    ) as unknown as ClientDuplexStream<DiscoveryRequest | DeltaDiscoveryRequest, Answer>;
    const shown = token !== '' ? 'token' : tls?.pair === undefined ? 'nothing' : 'certificate';
    call.on('metadata', () => subscriber.next({ type: 'connected' }));
    call.on('data', (answer: Answer) => {
      try {
        subscriber.next({ type: 'updated', update: readResponse(answer) });
      } catch (error) {
        subscriber.next({
          type: 'lost',
          reason: `its answer cannot be read: ${(error as Error).message}`,
        });
      }
    });
    call.on('error', (error: ServiceError) =>
      subscriber.next({ type: 'lost', reason: troubleOf(error, shown) }),
    );
    call.on('end', () => subscriber.next({ type: 'lost', reason: 'it has ended the stream' }));
    client.waitForReady(Infinity, () => subscriber.next({ type: 'connected' }));
    const asking = question$.subscribe({
      next: ({ ask, node }) => call.write(askMessage(variant, ask, node)),
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
