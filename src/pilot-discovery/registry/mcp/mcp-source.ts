// Why: docs/decisions/110-another-control-plane-is-a-source.md
import { create } from '@bufbuild/protobuf';
import {
  asyncScheduler,
  catchError,
  defer,
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
} from 'rxjs';
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
import { lostSigns, type McpEvent, type McpSign, reduceMcp, signsOf } from './reduce-mcp.ts';
import { serverCredentials } from './server-credentials.ts';

export interface McpSourceOptions {
  readonly server: ConfigServer;
  /** The name of the source. */
  readonly name: string;
  /** The pod that asks. */
  readonly self: { readonly name: string; readonly namespace: string };
  /** Returns a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** The longest time for which reading blocks the event loop, in ms. */
const slice = 8;

/**
 * Emits the resources of Istio that another control plane has: all that exist, then `synced`, then
 * the changes. The readers are those of files. If the server is away, or an answer cannot be read,
 * the known resources stay until it answers.
 *
 * Cold; never completes, never errors.
 */
export function mcpSource(options: McpSourceOptions): Observable<StoreEvent> {
  const { server, name, random = Math.random, scheduler = asyncScheduler } = options;
  const path = `xds://${server.address}`;
  const place: AnswerPlace = { source: name, path, namespaces: new Set(server.namespaces) };
  return from(import('./read-answer.ts')).pipe(
    switchMap((reader) =>
      signs(options, (kind, answer, before) => reader.readAnswer(kind, answer, before, place)),
    ),
    supervise(
      (error, delay): readonly McpSign[] => lostSigns((error as Error).message, delay),
      random,
      scheduler,
    ),
    mergeMap((all) => all),
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

/** Runs one connection. Errors with the reason when it is lost. */
function signs(
  { server, self, scheduler = asyncScheduler }: McpSourceOptions,
  read: Read,
): Observable<readonly McpSign[]> {
  const node = nodeOf(server, self);
  return NEVER.pipe(
    reduceWithEffects<ReadonlyMap<ConfigKind, string>, McpEvent, Ask>(
      new Map(),
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
          mergeScan((before: Known, event) => eventOf(before, event, read, scheduler), unread, 1),
          map(({ event }) => event),
        ),
    ),
    map(({ event }) => {
      if (event.type === 'lost') throw new Error(event.reason);
      return signsOf(event);
    }),
  );
}

type Ask = ReturnType<typeof reduceMcp>[1][number];

/** The objects of each kind on this connection, and the last event. */
interface Known {
  readonly objects: ReadonlyMap<ConfigKind, SentObjects>;
  readonly event: McpEvent;
}

const unread: Known = { objects: new Map(), event: { type: 'foreign' } };

/** Reads an answer; it lets other work run in between. */
function eventOf(
  { objects }: Known,
  event: AdsLinkEvent,
  read: Read,
  scheduler: SchedulerLike,
): Observable<Known> {
  if (event.type !== 'answered') return of({ objects, event });
  const { typeUrl, nonce, ...content } = event.answer as DiscoveryResponse;
  const kind = configKindOf(typeUrl);
  if (kind === undefined) return of({ objects, event: { type: 'foreign' } });
  const answer = { nonce, version: content.versionInfo };
  return defer(() =>
    inSlices(() => read(kind, content, objects.get(kind) ?? new Map()), slice, scheduler),
  ).pipe(
    map((sent): Known => ({
      objects: new Map(objects).set(kind, sent),
      event: { type: 'read', kind, answer, objects: sent },
    })),
    catchError((error: unknown) => {
      const { message: reason } = error as Error;
      return of<Known>({ objects, event: { type: 'unreadable', kind, answer, reason } });
    }),
  );
}

/** It is no proxy, but istiod accepts no other form of a node id. */
const nodeOf = ({ namespaces }: ConfigServer, { name, namespace }: McpSourceOptions['self']) =>
  create(NodeSchema, {
    id: `sidecar~127.0.0.1~${name}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: {
      GENERATOR: 'api',
      NAMESPACE: namespace,
      ...(namespaces.length > 0 && { CONFIG_NAMESPACES: namespaces.join(',') }),
    },
  });
