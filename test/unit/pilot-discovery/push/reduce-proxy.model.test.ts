import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  newProxyStream,
  type ProxyEvent,
} from '../../../../src/pilot-discovery/push/proxy-stream.ts';
import { reduceProxy } from '../../../../src/pilot-discovery/push/reduce-proxy.ts';
import {
  type TypedView,
  typeUrls,
  type View,
  type XdsResource,
  type XdsType,
  xdsTypes,
} from '../../../../src/pilot-discovery/push/view.ts';
import type { EnvoyRequest, Variant } from '../../../../src/shared/xds/messages.ts';
import { modelRuns } from '../../../support/model-runs.ts';

/** Clusters with the content of each and of its endpoints; routes with the clusters they name. */
interface World {
  readonly clusters: Readonly<
    Record<string, { readonly cluster: number; readonly endpoints: number }>
  >;
  readonly routes: Readonly<
    Record<string, { readonly clusters: readonly string[]; readonly isBad: boolean }>
  >;
}

type Happening =
  | { readonly type: 'world'; readonly world: World }
  /** The proxy reads this many answers, and ACKs or NACKs each. */
  | { readonly type: 'read'; readonly count: number }
  | { readonly type: 'reconnect' };

const resource = (name: string, version: string): XdsResource => ({
  name,
  version,
  body: Buffer.from(version),
  keys: [],
});

function typed(resources: readonly XdsResource[]): TypedView {
  const version = resources
    .map(({ name, version: resourceVersion }) => `${name}=${resourceVersion}`)
    .join();
  return {
    version,
    resources: new Map(resources.map((xdsResource) => [xdsResource.name, xdsResource])),
  };
}

let snapshots = 0;
function viewOf({ clusters, routes }: World): View {
  const each = (read: (clusterVersions: World['clusters'][string]) => number) =>
    typed(
      Object.entries(clusters).map(([name, clusterVersions]) =>
        resource(name, String(read(clusterVersions))),
      ),
    );
  return {
    snapshot: ++snapshots,
    cluster: each(({ cluster }) => cluster),
    endpoint: each(({ endpoints }) => endpoints),
    listener: typed(Object.keys(routes).map((name) => resource(name, 'listener'))),
    route: typed(
      Object.entries(routes).map(([name, route]) => {
        const named = route.clusters.filter((cluster) => cluster in clusters);
        return resource(name, `${route.isBad ? 'bad' : 'good'} ${named.join()}`);
      }),
    ),
  };
}

/** Connects a proxy that behaves like Envoy to a stream of the control plane. */
function connected(variant: Variant, first: World) {
  let state = newProxyStream(variant);
  let view = viewOf(first);
  const inbox: Answer[] = [];
  const envoyResources: Record<XdsType, Map<string, string>> = {
    cluster: new Map(),
    endpoint: new Map(),
    listener: new Map(),
    route: new Map(),
  };
  let names: Partial<Record<XdsType, ReadonlySet<string>>> = {};
  /** Clusters that wait for their endpoints since they have come or changed. */
  const waiting = new Set<string>();
  let unanswered = new Set<string>();
  let hasComeBack = false;

  const tell = (event: ProxyEvent): void => {
    const [after, effects] = reduceProxy(state, event);
    state = after;
    for (const effect of effects) {
      if (effect.type !== 'answer') continue;
      expect(unanswered, 'one answer of a type is under way').not.toContain(effect.answer.typeUrl);
      unanswered.add(effect.answer.typeUrl);
      inbox.push(effect.answer);
    }
  };
  const request = (type: XdsType, more: Partial<EnvoyRequest>): void => {
    const node = { id: 'sidecar~10.0.0.1~a.b~c' } as EnvoyRequest['node'];
    const none: EnvoyRequest['names'] =
      variant === 'delta'
        ? { kind: 'change', add: [], remove: [], versions: {} }
        : { kind: 'all', names: [...(names[type] ?? [])], version: '' };
    tell({
      type: 'request',
      request: {
        node,
        typeUrl: typeUrls[type],
        nonce: '',
        refusal: undefined,
        names: none,
        ...more,
      },
    });
  };
  const follow = (type: XdsType, wanted: ReadonlySet<string>, nonce: string): void => {
    const before = names[type];
    names = { ...names, [type]: wanted };
    const add = [...wanted].filter((name) => before?.has(name) !== true);
    const remove = [...(before ?? [])].filter((name) => !wanted.has(name));
    for (const name of remove) envoyResources[type].delete(name);
    if (before !== undefined && add.length + remove.length === 0) return;
    if (before === undefined && wanted.size === 0)
      return void (names = { ...names, [type]: undefined });
    const versions = before === undefined ? Object.fromEntries(envoyResources[type]) : {};
    if (variant === 'delta')
      request(type, { nonce, names: { kind: 'change', add, remove, versions } });
    else request(type, { nonce });
  };
  const lastNonce: Partial<Record<XdsType, string>> = {};

  function read(): void {
    const answer = inbox.shift();
    if (answer === undefined) return;
    const type = xdsTypes.find((xdsType) => typeUrls[xdsType] === answer.typeUrl) ?? 'cluster';
    const refused = answer.resources
      .filter(({ version }) => version.startsWith('bad'))
      .map(({ name }) => name);
    const isWhole = variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
    const resourcesOfType = envoyResources[type];
    if (isWhole)
      for (const name of resourcesOfType.keys())
        if (!answer.resources.some((xdsResource) => xdsResource.name === name))
          resourcesOfType.delete(name);
    for (const name of answer.removed) resourcesOfType.delete(name);
    for (const { name, version } of answer.resources) {
      if (refused.includes(name)) continue;
      if ((type === 'endpoint' || type === 'route') && names[type]?.has(name) !== true) continue;
      if (type === 'cluster' && resourcesOfType.get(name) !== version) waiting.add(name);
      if (type === 'endpoint') waiting.delete(name);
      resourcesOfType.set(name, version);
    }
    for (const name of waiting) if (!envoyResources.cluster.has(name)) waiting.delete(name);
    check();
    lastNonce[type] = answer.nonce;
    unanswered.delete(answer.typeUrl);
    const refusal =
      refused.length === 0 ? undefined : { code: 3, message: `bad: ${refused.join()}` };
    request(type, { nonce: answer.nonce, refusal });
    if (type === 'cluster')
      follow('endpoint', new Set(resourcesOfType.keys()), lastNonce.endpoint ?? '');
    if (type === 'listener')
      follow('route', new Set(resourcesOfType.keys()), lastNonce.route ?? '');
  }

  /** Checks that clusters in use exist, and that none of them waits for endpoints. */
  function check(): void {
    for (const name of envoyResources.listener.keys()) {
      const used =
        (envoyResources.route.get(name) ?? '').split(' ')[1]?.split(',').filter(Boolean) ?? [];
      // In state-of-the-world, the clusters of a proxy that comes back are unknown.
      if (variant === 'delta' || !hasComeBack)
        expect(
          used.filter((cluster) => !envoyResources.cluster.has(cluster)),
          `clusters that ${name} refers to are there`,
        ).toEqual([]);
      expect(
        used.filter(
          (cluster) =>
            waiting.has(cluster) && !envoyResources.endpoint.has(cluster) && !hasComeBack,
        ),
        'none of them is warming',
      ).toEqual([]);
    }
  }

  function connect(): void {
    state = newProxyStream(variant);
    inbox.length = 0;
    waiting.clear(); // the proxy does not report that it waits
    unanswered = new Set();
    for (const type of xdsTypes) lastNonce[type] = '';
    const namesBefore = names;
    names = {};
    tell({ type: 'view', view });
    for (const type of xdsTypes) {
      const wanted = namesBefore[type];
      if (wanted === undefined && (type === 'endpoint' || type === 'route')) continue;
      if (type === 'endpoint' || type === 'route') follow(type, wanted ?? new Set(), '');
      else
        request(
          type,
          variant === 'delta'
            ? {
                names: {
                  kind: 'change',
                  add: [],
                  remove: [],
                  versions: Object.fromEntries(envoyResources[type]),
                },
              }
            : {},
        );
    }
  }

  connect();
  return {
    happen(happening: Happening): void {
      if (happening.type === 'world') {
        view = viewOf(happening.world);
        tell({ type: 'view', view });
      } else if (happening.type === 'reconnect') {
        hasComeBack = true;
        connect();
      } else for (let times = 0; times < happening.count; times += 1) read();
    },
    /** Reads all answers; returns what the proxy has and what it should have. */
    rest() {
      tell({ type: 'introduced' });
      for (let times = 0; inbox.length > 0; times += 1) {
        expect(times, 'it comes to rest').toBeLessThan(1_000);
        read();
      }
      const good = (type: XdsType) =>
        [...view[type].resources.values()].filter(({ version }) => !version.startsWith('bad'));
      const isBad = (name: string) =>
        view.route.resources.get(name)?.version.startsWith('bad') === true;
      const has = (type: XdsType) => Object.fromEntries([...envoyResources[type]].sort());
      const wants = (type: XdsType) =>
        Object.fromEntries(
          good(type)
            .map(({ name, version }) => [name, version] as const)
            .sort(),
        );
      const routes = Object.fromEntries(
        [...envoyResources.route].filter(([name]) => !isBad(name)).sort(),
      );
      const isClean = ![...view.route.resources.values()].some(({ version }) =>
        version.startsWith('bad'),
      );
      // A cluster that only a refused route keeps is not used otherwise: it may wait.
      const waits = [...waiting].filter((name) => view.cluster.resources.has(name));
      return { has, wants, routes, isClean, waits };
    },
  };
}

const cluster = fc.constantFrom('c1', 'c2', 'c3', 'c4');
const content = fc.integer({ min: 1, max: 3 });
const world: fc.Arbitrary<World> = fc.record({
  clusters: fc.dictionary(cluster, fc.record({ cluster: content, endpoints: content }), {
    maxKeys: 4,
    size: 'max',
    noNullPrototype: true,
  }),
  routes: fc.dictionary(
    fc.constantFrom('r1', 'r2'),
    fc.record({
      clusters: fc.uniqueArray(cluster, { maxLength: 3, size: 'max' }),
      isBad: fc.boolean(),
    }),
    { maxKeys: 2, noNullPrototype: true },
  ),
});
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('world' as const), world }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('read' as const),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'reconnect' } as const) },
);

/**
 * A case in which a proxy came back with the versions of its endpoints, and waited for those of
 * `c1` forever. They left the view before they were sent, and came back unchanged.
 */
const waitedForever: [World, Happening[]][] = [
  [
    { clusters: { c3: { cluster: 1, endpoints: 1 } }, routes: {} },
    [
      { type: 'world', world: { clusters: { c1: { cluster: 1, endpoints: 3 } }, routes: {} } },
      { type: 'read', count: 4 },
      { type: 'reconnect' },
      { type: 'world', world: { clusters: { c3: { cluster: 1, endpoints: 1 } }, routes: {} } },
      { type: 'world', world: { clusters: { c1: { cluster: 2, endpoints: 1 } }, routes: {} } },
      { type: 'read', count: 1 },
      { type: 'world', world: { clusters: { c3: { cluster: 2, endpoints: 1 } }, routes: {} } },
      { type: 'read', count: 3 },
      { type: 'world', world: { clusters: { c1: { cluster: 2, endpoints: 3 } }, routes: {} } },
    ],
  ],
];

describe.each(['delta', 'state-of-the-world'] as const)('the stream of a proxy, %s', (variant) => {
  it('brings it to the newest resources, by steps of which each can be used, whatever happens', () => {
    fc.assert(
      fc.property(
        world,
        fc.array(happening, { maxLength: 40, size: 'max' }),
        (first, happenings) => {
          const proxy = connected(variant, first);
          for (const step of happenings) proxy.happen(step);
          const { has, wants, routes, isClean, waits } = proxy.rest();
          expect(has('listener')).toEqual(wants('listener'));
          expect(routes).toEqual(wants('route'));
          if (isClean) expect(has('cluster')).toEqual(wants('cluster'));
          else expect(has('cluster')).toMatchObject(wants('cluster'));
          expect(has('endpoint')).toMatchObject(wants('endpoint'));
          expect(waits).toEqual([]);
        },
      ),
      { numRuns: modelRuns(500), examples: waitedForever },
    );
  });
});
