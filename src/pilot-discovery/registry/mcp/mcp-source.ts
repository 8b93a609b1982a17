// Why: docs/decisions/110-another-control-plane-is-a-source.md
import { create } from '@bufbuild/protobuf';
import {
  asyncScheduler,
  catchError,
  defer,
  distinctUntilChanged,
  from,
  map,
  mergeMap,
  mergeScan,
  NEVER,
  type Observable,
  of,
  scan,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { feedback } from '../../../operators/feedback.ts';
import { inSlices } from '../../../operators/in-slices.ts';
import { reduceWithEffects } from '../../../operators/reduce-with-effects.ts';
import { supervise } from '../../../operators/supervise.ts';
import {
  type DiscoveryResponse,
  NodeSchema,
} from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { adsLink, type AdsLinkEvent } from '../../../shared/xds/ads-link.ts';
import { askMessage } from '../../../shared/xds/messages.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { ConfigServer } from '../../istio/mesh/config-server.ts';
import { configKindOf, configKinds, type ConfigKind } from '../../mcp/config-types.ts';
import { noObjects, type ObjectsState, reduceObjects } from '../kubernetes/objects-state.ts';
import type { AnswerPlace, SentObject, SentObjects, readAnswer } from './read-answer.ts';
import { neededNamespaces } from './needed-namespaces.ts';
import {
  lostSigns,
  type McpEvent,
  type McpSign,
  type McpState,
  newMcp,
  reduceMcp,
  signsOf,
} from './reduce-mcp.ts';
import { serverCredentials } from './server-credentials.ts';

export interface McpSourceOptions {
  readonly server: ConfigServer;
  /** The name of the source. */
  readonly name: string;
  /** Whether other control planes may read the resources from this one. */
  readonly bodies: AnswerPlace['bodies'];
  /** The pod that asks. */
  readonly self: { readonly name: string; readonly namespace: string };
  /** Returns a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/**
 * How often it connects again at once because other namespaces are needed, and the pause before it
 * does so later, in ms: two servers behind one address may have different Sidecars for a while.
 */
const [atOnce, apart] = [1, 1_000];

/** The longest time for which reading blocks the event loop, in ms. */
const slice = 8;

/**
 * Emits the resources of Istio that another control plane has: all that exist, then `synced`, then
 * the changes. Resources are read as in files. If the server is away, or an answer cannot be read,
 * the known resources stay until it answers.
 *
 * If the options name namespaces, it also asks for those that their Sidecars name. If a Sidecar
 * later names another one, it connects again, at most once a second. Until then the known
 * resources stay.
 *
 * Cold; never completes, never errors.
 */
export function mcpSource(options: McpSourceOptions): Observable<StoreEvent> {
  const { server, name, bodies, random = Math.random, scheduler = asyncScheduler } = options;
  const path = `xds://${server.address}`;
  const first: Known = { ...nothingRead, namespaces: server.namespaces };
  return from(import('./read-answer.ts')).pipe(
    switchMap(({ readAnswer }) =>
      feedback<Known, Sign>(
        first,
        (progress, { after }) => after ?? progress,
        (progress$) =>
          progress$.pipe(
            map(({ namespaces }) => namespaces),
            distinctUntilChanged(),
            switchMap((namespaces, change) => {
              const place = { source: name, path, bodies, namespaces: new Set(namespaces) };
              const read: Read = (...answer) => readAnswer(...answer, place);
              const connection$ = progress$.pipe(
                take(1),
                switchMap((progress) => signs(options, progress, read)),
                supervise(
                  (error, delay): Sign => ({ signs: lostSigns((error as Error).message, delay) }),
                  random,
                  scheduler,
                ),
              );
              return change <= atOnce
                ? connection$
                : timer(apart, scheduler).pipe(switchMap(() => connection$));
            }),
          ),
      ),
    ),
    mergeMap(({ value }) => value.signs),
    scan(
      ([state]: Step, sign): Step =>
        reduceObjects(state, sign, (object) => (object as SentObject).content, name),
      [noObjects(configKinds), []],
    ),
    mergeMap(([, events]) => events),
  );
}

type Step = readonly [ObjectsState, readonly StoreEvent[]];

type Read = (
  kind: ConfigKind,
  answer: Parameters<typeof readAnswer>[1],
  before: SentObjects,
) => ReturnType<typeof readAnswer>;

/** The progress of all connections so far. */
interface Known {
  /** The objects of each kind. */
  readonly objects: ReadonlyMap<ConfigKind, SentObjects>;
  /** The version of each kind that was ACKed last. */
  readonly versions: McpState['versions'];
  /** The namespaces to ask for; empty for all. */
  readonly namespaces: readonly string[];
}

const nothingRead: Omit<Known, 'namespaces'> = { objects: new Map(), versions: new Map() };

/** The signs of an event, and the progress after it. */
interface Sign {
  readonly signs: readonly McpSign[];
  /** Undefined if the progress is the same as before. */
  readonly after?: Known;
}

/** Runs one connection. Errors with the reason when it is lost. */
function signs(
  { server, self, scheduler = asyncScheduler }: McpSourceOptions,
  progress: Known,
  read: Read,
): Observable<Sign> {
  const node = nodeOf(progress.namespaces, self);
  return NEVER.pipe(
    reduceWithEffects<McpState, McpEvent, Ask>(
      newMcp(progress.versions, server.namespaces.length === 0 ? 'all at once' : 'Sidecars first'),
      reduceMcp,
      (effect$) =>
        adsLink(
          (grpc) => serverCredentials(server, grpc),
          'state-of-the-world',
          effect$.pipe(
            map(({ ask, place }) =>
              askMessage('state-of-the-world', ask, place === 'first' ? node : undefined),
            ),
          ),
          scheduler,
        ).pipe(
          mergeScan(
            (before: Reading, event) => eventOf(before, event, read, scheduler),
            { objects: progress.objects, event: { type: 'foreign' } },
            1,
          ),
          map(({ event }) => event),
        ),
    ),
    scan(
      ({ after = progress }: Sign, { event, state }): Sign => {
        if (event.type === 'lost') throw new Error(event.reason);
        return signAfter(after, event, state.versions, server.namespaces);
      },
      { signs: [] },
    ),
  );
}

/** If other namespaces are needed, leaves the sign `current` out: so the source is not synced. */
function signAfter(
  progress: Known,
  event: McpEvent,
  versions: McpState['versions'],
  given: readonly string[],
): Sign {
  if (event.type !== 'read') return { signs: signsOf(event), after: progress };
  const { kind, objects: sent } = event;
  const objects = new Map(progress.objects).set(kind, sent);
  const namespaces =
    kind === 'Sidecar'
      ? sameOr(progress.namespaces, neededNamespaces(given, sent))
      : progress.namespaces;
  const isOther = namespaces !== progress.namespaces;
  const all = signsOf(event);
  return {
    signs: isOther ? all.filter(({ sign }) => sign.type !== 'current') : all,
    after: { objects, versions, namespaces },
  };
}

const sameOr = (before: readonly string[], after: readonly string[]): readonly string[] =>
  before.join() === after.join() ? before : after;

type Ask = ReturnType<typeof reduceMcp>[1][number];

/** The objects of each kind, and the last event of a connection. */
interface Reading {
  readonly objects: ReadonlyMap<ConfigKind, SentObjects>;
  readonly event: McpEvent;
}

/** Reads an answer; it lets other work run in between. */
function eventOf(
  { objects }: Reading,
  event: AdsLinkEvent,
  read: Read,
  scheduler: SchedulerLike,
): Observable<Reading> {
  if (event.type !== 'answered') return of({ objects, event });
  const { typeUrl, nonce, ...content } = event.answer as DiscoveryResponse;
  const kind = configKindOf(typeUrl);
  if (kind === undefined) return of({ objects, event: { type: 'foreign' } });
  const answer = { nonce, version: content.versionInfo };
  return defer(() =>
    inSlices(() => read(kind, content, objects.get(kind) ?? new Map()), slice, scheduler),
  ).pipe(
    map((sent): Reading => ({
      objects: new Map(objects).set(kind, sent),
      event: { type: 'read', kind, answer, objects: sent },
    })),
    catchError((error: unknown) => {
      const { message: reason } = error as Error;
      return of<Reading>({ objects, event: { type: 'unreadable', kind, answer, reason } });
    }),
  );
}

/**
 * This client is not a proxy, but istiod accepts no other form of a node id. A waypoint gets every
 * change. A sidecar gets what its namespace sees: private rules and policies would be missing.
 */
const nodeOf = (namespaces: readonly string[], { name, namespace }: McpSourceOptions['self']) =>
  create(NodeSchema, {
    id: `waypoint~127.0.0.1~${name}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: {
      GENERATOR: 'api',
      NAMESPACE: namespace,
      ...(namespaces.length > 0 && { CONFIG_NAMESPACES: namespaces.join(',') }),
    },
  });
