import { randomUUID } from 'node:crypto';
import {
  concatMap,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  share,
  shareReplay,
  Subject,
  takeWhile,
} from 'rxjs';
import { initialCa } from '../ca/ca-view.ts';
import type { ProxyWithView } from '../debug/debug-answers.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';
import { debugRoutes, monitoringRoutes } from '../debug/debug-routes.ts';
import { withWorkload } from '../generate/scope/with-workload.ts';
import { type Fold, feedback } from '../../operators/feedback.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Comes } from '../push/call-events.ts';
import { isConfigClient } from '../push/config-view.ts';
import type { View } from '../push/view.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import { version } from '../../shared/program/version.ts';
import type { Handler } from '../../shared/http/handler.ts';
import type { FindAccess } from '../../shared/kube/access.ts';
import { statusServer } from '../../shared/http/status-server.ts';
import { holdRemovals } from '../environment/hold-removals.ts';
import type { StoreEvent } from '../environment/store-event.ts';
import type { DiscoveryConfig } from './discovery-config.ts';
import type { ListenAddress } from './setting-reader.ts';
import type { DiscoveryEvent, ServerName } from '../state/discovery-event.ts';
import { foldView, initialView } from '../state/fold-view.ts';
import { endingOf } from './ending-of.ts';
import { configFor } from './config-for.ts';
import { servable } from './servable.ts';
import { proxyOf } from './proxy-of.ts';
import { meshAuthority } from './mesh-authority.ts';
import { type ProxyCredentials, proxyCredentials } from '../credentials/proxy-credentials.ts';
import type { Caller } from '../identity/caller.ts';
import type { SecretsSign } from '../push/secrets-sign.ts';
import { proxyViews } from './proxy-views.ts';
import { fetchKeys } from '../registry/keys/fetch-keys.ts';
import { keysSource, keysSourceName } from '../registry/keys/keys-source.ts';
import { keysRequests } from '../registry/keys/wanted-keys.ts';
import { securePort } from './secure-port.ts';
import { serveGrpc } from './serve-grpc.ts';
import { writeStatuses } from '../status/write-statuses.ts';
import { kubernetesName } from '../registry/kubernetes/kubernetes-source.ts';
import { type Built, type Snapshot, snapshots, type StoreStep } from '../environment/snapshots.ts';

export interface DiscoveryParts {
  readonly config: DiscoveryConfig;
  /** The events of the sources. */
  readonly event$: Observable<StoreEvent>;
  /** The names of the sources that must be synced before a proxy gets its first answer. */
  readonly sources: readonly string[];
  /** The Kubernetes API that reviews tokens; undefined if none is named. */
  readonly findApi: FindAccess | undefined;
  /** The API whose Secrets may have the certificate authority; undefined for none. */
  readonly kube: (KubeApi & KubeWriter) | undefined;
  /** Emits the requests to end, such as a signal. */
  readonly terminate$: Observable<string>;
  /** Emits when the log is to open its files again, such as at a signal. */
  readonly reopen$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/**
 * Runs a control plane. Emits its events, each with the views before and after it. If it is asked
 * to end, it sends its proxies elsewhere one after another and then completes; if it is asked
 * again, it completes at once. It also completes if it cannot listen on an address. Cold; errors
 * only by a bug.
 */
export function runDiscovery(
  parts: DiscoveryParts,
): Observable<Fold<DiscoveryView, DiscoveryEvent>> {
  const { config, kube, reopen$, scheduler } = parts;
  const terminate$ = parts.terminate$.pipe(share());
  const fold = (view: DiscoveryView, event: DiscoveryEvent) =>
    foldView(view, event, scheduler.now());
  const ca = config.secure === undefined ? undefined : config.ca;
  const first = { ...initialView, ca: ca === undefined ? undefined : initialCa };
  return feedback<DiscoveryView, DiscoveryEvent>(first, fold, (view$) => {
    const authority = ca && meshAuthority(ca, kube, view$, scheduler);
    const credentials = kube && proxyCredentials(kube, config.debounce, scheduler);
    const confirm$ = new Subject<void>();
    const step$ = sourceSteps(parts, view$, confirm$);
    const snapshot$ = step$.pipe(
      ofType('built'),
      map(({ snapshot }) => snapshot),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    const ending = endingOf(terminate$, view$, config.shutdownDuration, scheduler);
    const views = proxyViews(scheduler);
    const grpc$ = xdsServer(parts, {
      authority,
      credentials,
      snapshot$,
      views,
      drain$: ending.drain$,
    });
    const debug = debugRoutes(
      view$,
      () => scheduler.now(),
      (view, node) => viewOfNode(view, views, node),
      () => confirm$.next(),
    );
    return merge(
      ending.event$,
      reopen$.pipe(map((): DiscoveryEvent => ({ type: 'reopen-requested' }))),
      authority?.event$ ?? EMPTY,
      credentials?.event$ ?? EMPTY,
      statuses(parts, view$, terminate$),
      grpc$,
      http('httpAddr', config.http, debug),
      http('monitoringAddr', config.monitoring, monitoringRoutes(view$, version)),
      // If a proxy connects before the first snapshot is built, that snapshot answers it.
      snapshot$.pipe(ignoreElements()),
      views.forget$,
      step$,
    );
  }).pipe(takeWhile(({ value }) => value.type !== 'over' && value.type !== 'failed', true));
}

/** The parts of a running control plane that answer its proxies. */
interface XdsParts {
  readonly authority: ReturnType<typeof meshAuthority> | undefined;
  readonly credentials: ProxyCredentials | undefined;
  readonly snapshot$: Observable<Snapshot>;
  readonly views: Views;
  readonly drain$: ReturnType<typeof endingOf>['drain$'];
}

/** Serves xDS to the proxies, on the plain and on the secure port. */
function xdsServer(
  { config, findApi, scheduler }: DiscoveryParts,
  { authority, credentials, snapshot$, views, drain$ }: XdsParts,
): Observable<DiscoveryEvent> {
  const { secure, blockedRanges } = config;
  const secureParts = { authority, findApi, snapshot$, blockedRanges, scheduler };
  return serveGrpc(
    { plain: config.grpc, secure: secure && securePort(secure, secureParts) },
    {
      configFor$: configFor(snapshot$),
      configReaders: config.configReaders,
      viewFor$: (node, comes) => viewFor(snapshot$, views, node, comes),
      secretsOf$: (caller, names) => secretsOf$(credentials, caller, names),
      controlPlane: JSON.stringify({
        Component: 'pilot-discovery',
        ID: config.podName,
        Info: { version },
      }),
      throttle: config.pushThrottle,
      keepalive: config.keepalive,
      largestRequest: config.largestRequest,
      drain$,
      scheduler,
    },
  );
}

/** Writes the status of resources into the API, if that is on. */
function statuses(
  { config, kube, scheduler }: DiscoveryParts,
  view$: Observable<DiscoveryView>,
  end$: Observable<unknown>,
): Observable<DiscoveryEvent> {
  const { analysisInterval, domain, podName, podNamespace: namespace } = config;
  if (analysisInterval === undefined || kube === undefined) return EMPTY;
  // A Pod that starts again has the same name, but it is another holder.
  const holder = `${podName}_${randomUUID()}`;
  const how = { interval: analysisInterval, source: kubernetesName, domain, namespace, holder };
  return writeStatuses(kube, { ...how, view$, end$, scheduler });
}

/** Emits the steps of the store and the snapshots. Hot: all subscribers share the sources. */
function sourceSteps(
  { config, event$, sources, scheduler }: DiscoveryParts,
  view$: Observable<DiscoveryView>,
  confirm$: Observable<void>,
): Observable<StoreStep | Built> {
  const request$ = view$.pipe(
    map(({ store }) => store),
    filter((store) => store !== undefined),
    distinctUntilChanged(),
    keysRequests(),
  );
  const keys$ = keysSource(request$, (from) => fetchKeys(from, config.blockedRanges), scheduler);
  return merge(event$, keys$).pipe(
    holdRemovals(config.massRemovalHold, confirm$, scheduler),
    snapshots([...sources, keysSourceName], config, config.debounce, scheduler),
    share(),
  );
}

type Views = ReturnType<typeof proxyViews>;

/** Returns the view of a proxy for a page; undefined if there is no snapshot yet. */
function viewOfNode(
  { snapshot }: DiscoveryView,
  { view: viewIn }: Views,
  node: Node,
): ProxyWithView | undefined {
  const proxy = proxyOf(node);
  const isProxy = typeof proxy !== 'string' && !isConfigClient(node);
  if (snapshot === undefined || !isProxy) return undefined;
  const { environment } = snapshot;
  const parts = { environment, reported: proxy, view: viewIn(snapshot, proxy) };
  return { ...parts, node: withWorkload(environment, proxy) };
}

/** Returns the views of a proxy, or why the node is not a proxy. */
function viewFor(
  snapshot$: Observable<Snapshot>,
  { views$ }: Views,
  node: Node,
  comes: Comes,
): Observable<View> | string {
  const proxy = proxyOf(node);
  if (typeof proxy === 'string') return proxy;
  return views$(servable(snapshot$, comes), proxy);
}

/** Returns the secrets of a client; a client that is not authenticated gets none. */
function secretsOf$(
  credentials: ProxyCredentials | undefined,
  caller: Caller | undefined,
  names: ReadonlySet<string>,
): Observable<SecretsSign> {
  if (names.size === 0) return EMPTY;
  const refused$ = (reason: string) => of<SecretsSign>({ type: 'secrets-refused', reason });
  if (caller === undefined)
    return refused$('it is not authenticated: secrets are for proxies that use --secureGRPCAddr');
  if (credentials === undefined)
    return refused$('there is no Kubernetes API that has Secrets: see --registries Kubernetes');
  return credentials.secretsFor$(caller, names);
}

/** Serves routes at an address, if there is one. */
function http(
  server: ServerName,
  address: ListenAddress | undefined,
  routes: (path: string) => Handler,
): Observable<DiscoveryEvent> {
  if (address === undefined) return EMPTY;
  const { host, port } = address;
  const serverAddress = { server, address: `${host}:${port}` };
  return statusServer(port, routes, host === '' ? undefined : host).pipe(
    concatMap((event): readonly DiscoveryEvent[] => {
      if (event.type === 'listening') return [{ type: event.type, ...serverAddress }];
      return event.type === 'failed' || event.type === 'not-taken'
        ? [{ type: event.type, ...serverAddress, reason: event.reason }]
        : [];
    }),
  );
}
