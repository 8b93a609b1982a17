import {
  logVerbosity,
  ServerCredentials,
  ServerInterceptingCall,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js';
import { defer, finalize, merge, mergeMap, type Observable, Subject, tap } from 'rxjs';
import type { ReportRefused } from '../../shared/grpc/bounded-messages.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { configAccess, type ConfigReaders } from '../identity/config-access.ts';
import { identifiedCalls, type Identify } from '../identity/identified-calls.ts';
import { nodeFlaw } from '../identity/node-flaw.ts';
import type { Caller } from '../identity/caller.ts';
import type { SecureService } from '../identity/caller-of.ts';
import type { ServingEvent } from '../identity/serving-files.ts';
import { adsCalls } from '../push/ads-calls.ts';
import type { AdsEvent } from '../push/ads-event.ts';
import { type AdsOptions, serveAds } from '../push/ads-server.ts';
import { isConfigClient } from '../push/config-view.ts';
import type { Call } from '../push/first-request.ts';
import type { SecretsSign } from '../push/secrets-sign.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';
import type { ListenAddress } from './setting-reader.ts';
import { boundedServer, type GrpcLimits, type GrpcPort, grpcPort } from './grpc-port.ts';
import { listenSecurely } from './listen-securely.ts';

/** The port on which each call has an authenticated caller. */
export interface SecurePort {
  readonly address: ListenAddress;
  /** The certificates of the port. It is opened with the first one. */
  readonly serving$: Observable<ServingEvent>;
  readonly identify$: Identify;
  /** Whether the node may have another namespace or account than its authenticated caller. */
  readonly nodes: 'own' | 'any';
  /** The services besides xDS. */
  readonly services: readonly SecureService<DiscoveryEvent>[];
  /** Runs as long as the port does. */
  readonly upkeep$: Observable<never>;
}

/** The ports of gRPC; undefined if a port is off. */
export interface GrpcPorts {
  readonly plain: ListenAddress | undefined;
  readonly secure: SecurePort | undefined;
}

export interface ServeGrpcOptions
  extends Omit<AdsOptions, 'nodeFlaw' | 'secretsFor$' | 'cut'>, GrpcLimits {
  /** Emits those of the named secrets that a caller may have. */
  readonly secretsOf$: (
    caller: Caller | undefined,
    names: ReadonlySet<string>,
  ) => Observable<SecretsSign>;
  /** The control planes that may read resources of Istio. */
  readonly configReaders: ConfigReaders;
}

/** The services of one port. */
interface Served {
  /** Its streams of xDS. */
  readonly call$: Observable<readonly [Variant, Call]>;
  /** Everything else that happens on it. */
  readonly event$: Observable<DiscoveryEvent>;
  /** Returns why the client of a stream may not be a node; undefined if it may. */
  readonly nodeFlaw: AdsOptions['nodeFlaw'];
  /** Returns the authenticated client of a stream; undefined if it is not authenticated. */
  readonly callerOf: (call: Call) => Caller | undefined;
  readonly cut: GrpcPort['cut'];
}

/**
 * Serves xDS over gRPC: in plain text, and over TLS to authenticated callers. Emits `listening` for
 * each port, or `failed`; then the events of its streams. Never completes, never errors. Closes all
 * connections on unsubscribe.
 */
export function serveGrpc(
  { plain, secure }: GrpcPorts,
  options: ServeGrpcOptions,
): Observable<DiscoveryEvent> {
  return defer(() => {
    setLogVerbosity(logVerbosity.NONE); // else stderr repeats returned errors
    const refused$ = new Subject<AdsEvent>();
    const tell: ReportRefused = (address, reason) =>
      refused$.next({ type: 'stream-refused', connection: 0, address, reason });
    const ports = [
      ...(plain === undefined ? [] : [servePlain(plain, options, tell)]),
      ...(secure === undefined ? [] : [serveSecure(secure, options, tell)]),
    ];
    const portOf = new WeakMap<Call, Served>();
    const calls = ports.map((port) => port.call$.pipe(tap(([, call]) => portOf.set(call, port))));
    const stream$ = serveAds(merge(...calls), {
      ...options,
      nodeFlaw(call, node) {
        const port = portOf.get(call);
        return port === undefined ? 'its port is not known' : port.nodeFlaw(call, node);
      },
      secretsFor$: (call, names) => options.secretsOf$(portOf.get(call)?.callerOf(call), names),
      cut: (call) => portOf.get(call)?.cut(call.getPeer()),
    });
    return merge(refused$, stream$, ...ports.map(({ event$ }) => event$));
  });
}

function servePlain(
  address: ListenAddress,
  options: ServeGrpcOptions,
  tell: ReportRefused,
): Served {
  const server = boundedServer(options, [], tell);
  const port = grpcPort('grpcAddr', address, tell, options.scheduler);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    call$: adsCalls(server).pipe(
      tap(([, call]) => call.once('data', () => port.noteServed(call.getPeer()))),
    ),
    event$: port
      .listen$((socket) => injector.injectConnection(socket))
      .pipe(finalize(() => server.forceShutdown())),
    nodeFlaw: (_, node) => readerFlaw(options, node, undefined),
    callerOf: () => undefined,
    cut: port.cut,
  };
}

/** Returns why a control plane may not read resources; undefined if it may, or for a proxy. */
const readerFlaw = (
  { configReaders }: ServeGrpcOptions,
  node: Node,
  caller: Caller | undefined,
): string | undefined => (isConfigClient(node) ? configAccess(configReaders, caller) : undefined);

function serveSecure(
  { address, serving$, identify$, nodes, services, upkeep$ }: SecurePort,
  options: ServeGrpcOptions,
  tell: ReportRefused,
): Served {
  const calls = identifiedCalls({ ServerInterceptingCall, status }, identify$);
  const server = boundedServer(options, [calls.interceptor], tell);
  const port = grpcPort('secureGRPCAddr', address, tell, options.scheduler);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const identified$ = calls.event$.pipe(
    mergeMap((event): readonly DiscoveryEvent[] => {
      if (event.type === 'caller-refused') return [event];
      port.noteServed(event.address);
      return [];
    }),
  );
  const listen$ = listenSecurely(port, serving$, (socket) => injector.injectConnection(socket));
  return {
    call$: adsCalls(server),
    event$: merge(
      identified$,
      upkeep$,
      ...services.map((serve$) => serve$(server, calls.callerOf)),
      listen$,
    ).pipe(finalize(() => server.forceShutdown())),
    callerOf: calls.callerOf,
    nodeFlaw: (call, node) => {
      const caller = calls.callerOf(call);
      const flaw = nodes === 'any' ? undefined : nodeFlaw(caller, node);
      return flaw ?? readerFlaw(options, node, caller);
    },
    cut: port.cut,
  };
}
