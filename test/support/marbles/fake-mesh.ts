import { create } from '@bufbuild/protobuf';
import { anyPack, StringValueSchema } from '@bufbuild/protobuf/wkt';
import {
  asyncScheduler,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  Subject,
  takeUntil,
  timer,
} from 'rxjs';
import {
  NodeSchema,
  type Resource,
  ResourceSchema,
} from '../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { LinkEvent, Question } from '../../../src/pilot-agent/xds-proxy/control-plane.ts';
import type { EnvoyRequest, Push, Variant } from '../../../src/shared/xds/messages.ts';
import { typeName, typeUrls, type Update } from '../../../src/shared/xds/resources.ts';
import type { EnvoyCall } from '../../../src/pilot-agent/xds-proxy/xds-server.ts';

/** Returns a resource of a fake type: its name, and a text that is also its version. */
export function resource(name: string, content: string): Resource {
  return create(ResourceSchema, {
    name,
    version: content,
    resource: anyPack(StringValueSchema, create(StringValueSchema, { value: content })),
  });
}

/** The configuration of a control plane at one time. */
export interface FakeConfig {
  readonly version: string;
  readonly clusters: readonly string[];
  readonly routes: readonly string[];
}

/**
 * Returns a configuration of these clusters, each with endpoints, and of these routes, each with a
 * listener.
 */
export function config(
  version: string,
  clusters: readonly string[] = ['a'],
  routes: readonly string[] = ['r'],
): FakeConfig {
  return { version, clusters, routes };
}

function resourcesOf(
  { version, clusters, routes }: FakeConfig,
  typeUrl: string,
  names: ReadonlySet<string>,
): readonly Resource[] {
  const all = { clusters, endpoints: clusters, listeners: routes, routes }[
    typeName(typeUrl) as 'clusters' | 'endpoints' | 'listeners' | 'routes'
  ];
  return all
    .filter((name) => names.has('*') || names.has(name))
    .map((name) => resource(name, version));
}

/** The state of a fake control plane: away, silent, or with a configuration. */
export type Mood = 'away' | 'silent' | FakeConfig;

/**
 * Returns a control plane that takes its state from `mood$`, which emits the first one at once. It
 * answers at once, and sends its configuration to all connections when that changes.
 */
export function fakeControlPlane(mood$: Observable<Mood>) {
  let mood: Mood = 'away';
  const changed$ = new Subject<Mood>();
  /** The connections, requests, ACKs and NACKs that it receives, in order. */
  const heard$ = new Subject<string>();
  const follow$ = mood$.pipe(
    map((next) => {
      mood = next;
      changed$.next(next);
    }),
    ignoreElements(),
  );

  function connect(_: Variant, question$: Observable<Question>): Observable<LinkEvent> {
    return defer(() => {
      heard$.next('connect');
      if (mood === 'away') return of<LinkEvent>({ type: 'lost', reason: 'connection refused' });
      const subscribed = new Map<string, ReadonlySet<string>>();
      let nonces = 0;
      const answer = (typeUrl: string): readonly LinkEvent[] => {
        if (typeof mood === 'string') return [];
        const resources = resourcesOf(mood, typeUrl, subscribed.get(typeUrl) ?? new Set());
        const isWhole = typeUrl === typeUrls.clusters || typeUrl === typeUrls.listeners;
        const update: Update = {
          typeUrl,
          version: mood.version,
          nonce: String(++nonces),
          resources,
          removed: [],
          isWhole,
          controlPlane: 'fake',
        };
        return [{ type: 'updated', update }];
      };
      const answered$ = question$.pipe(
        mergeMap(({ ask }) => {
          const { typeUrl, names, nonce, refusal, add } = ask;
          const what =
            refusal !== undefined
              ? 'refused'
              : nonce !== '' && add.length === 0
                ? 'accepted'
                : 'asked';
          heard$.next(`${what} ${typeName(typeUrl)}`);
          subscribed.set(typeUrl, names);
          return what === 'asked' ? answer(typeUrl) : [];
        }),
      );
      const pushed$ = changed$.pipe(mergeMap(() => [...subscribed.keys()].flatMap(answer)));
      const silence$ =
        mood === 'silent'
          ? timer(4_000, asyncScheduler).pipe(
              map((): LinkEvent => ({ type: 'unanswered', reason: 'it does not answer' })),
            )
          : EMPTY;
      const away$ = changed$.pipe(
        mergeMap((next): readonly LinkEvent[] =>
          next === 'away' ? [{ type: 'lost', reason: 'it is gone' }] : [],
        ),
      );
      // The answers to requests must come after `opened` has been handled.
      return merge(
        answered$,
        pushed$,
        silence$,
        away$,
        concat(of<LinkEvent>({ type: 'opened' }), NEVER),
      );
    });
  }
  return { connect, heard$: heard$.asObservable(), follow$ };
}

export interface FakeEnvoyOptions {
  readonly nodeId?: string;
  /** A version that it NACKs. */
  readonly refuses?: string;
  /** The version that it has already. */
  readonly has?: string;
  /** Emits when it disconnects. */
  readonly gone$?: Observable<unknown>;
}

/**
 * Returns an Envoy that requests clusters, then their endpoints, then listeners, then their routes,
 * as a real one does. It ACKs everything except the version `refuses`. For each answer, `given$`
 * emits `type version`, and then `begun` when the Envoy has everything that it needs.
 */
export function fakeEnvoy({
  nodeId = 'node',
  refuses,
  has = '',
  gone$ = NEVER,
}: FakeEnvoyOptions = {}) {
  const given$ = new Subject<string>();
  const sent$ = new Subject<EnvoyRequest>();
  const node = create(NodeSchema, { id: nodeId });
  const names = new Map<string, readonly string[]>();
  let hasBegun = false;

  function ask(
    typeUrl: string,
    wanted: readonly string[],
    nonce = '',
    version = has,
    refusal?: string,
  ): void {
    names.set(typeUrl, wanted);
    const why = refusal === undefined ? undefined : { code: 13, message: refusal };
    sent$.next({
      node,
      typeUrl,
      nonce,
      refusal: why,
      names: { kind: 'all', names: wanted, version },
    });
  }
  function push({ typeUrl, version, nonce, resources }: Push): void {
    given$.next(`${typeName(typeUrl)} ${version}`);
    if (version === refuses) {
      ask(typeUrl, names.get(typeUrl) ?? [], nonce, '', 'I do not want it');
      return;
    }
    const foundNames = resources.map(({ name }) => name);
    const next =
      typeUrl === typeUrls.clusters
        ? typeUrls.endpoints
        : typeUrl === typeUrls.listeners
          ? typeUrls.routes
          : undefined;
    if (next !== undefined && foundNames.length > 0)
      ask(next, foundNames, names.has(next) ? String(-1) : '');
    ask(typeUrl, names.get(typeUrl) ?? [], nonce, version);
    if (typeUrl === typeUrls.endpoints && !names.has(typeUrls.listeners))
      ask(typeUrls.listeners, []);
    if (typeUrl === typeUrls.routes && !hasBegun) {
      hasBegun = true;
      given$.next('begun');
    }
  }
  const request$ = defer(() =>
    merge(
      sent$,
      defer(() => {
        ask(typeUrls.clusters, []);
        return EMPTY;
      }),
    ),
  ).pipe(takeUntil(gone$));
  const call: EnvoyCall = { variant: 'state-of-the-world', request$, push };
  return { call, given$: given$.asObservable() };
}
