import type { Observable, Subscription } from 'rxjs';
import { expect } from 'vitest';
import { buildEnvironment } from '../../src/pilot-discovery/environment/build-environment.ts';
import { noChanges } from '../../src/pilot-discovery/environment/changes.ts';
import { serviceKey } from '../../src/pilot-discovery/environment/environment.ts';
import { groupedBy } from '../../src/pilot-discovery/environment/grouped.ts';
import { eachResource } from '../../src/pilot-discovery/environment/resources.ts';
import {
  emptyStore,
  isSynced,
  reduceStore,
  type Store,
} from '../../src/pilot-discovery/environment/store.ts';
import { flawsOf } from '../../src/pilot-discovery/environment/store-flaws.ts';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { KubeDocument } from '../support/fake-kube.ts';

/** A registry whose objects a test may change, and a source that reads it. */
export interface RegistryStage<T> {
  /** The name of the source in its events. */
  readonly source: string;
  readonly event$: Observable<StoreEvent>;
  /** Makes an object, or replaces it. */
  readonly put: (object: T) => Promise<void>;
  readonly remove: (object: T) => Promise<void>;
  /** The objects that the registry has, as a user writes them into a folder. */
  readonly written: () => readonly KubeDocument[];
  /** Makes the registry unreadable until `end`. */
  readonly outage: { readonly begin: () => Promise<void>; readonly end: () => Promise<void> };
  readonly dispose: () => Promise<void>;
}

/** The objects that a contract puts into a registry. All are in this namespace. */
export interface RegistryObjects<T> {
  readonly all: readonly T[];
  /** Other versions of some of them. */
  readonly others: readonly T[];
  /** An object of each of three services. `all` has the first two, with port 80. */
  readonly service: (name: 'a' | 'b' | 'c', port: number) => T;
}

export const contractNamespace = 'shop';

/** A promise of each registry. */
interface Promised {
  readonly name: string;
  readonly check: () => Promise<void>;
}

/** A stage whose source has a subscriber. */
interface World<T> extends RegistryStage<T> {
  readonly store: () => Store;
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();

/**
 * Returns the parts of a snapshot that a proxy notices: services, endpoints and rules. Resources
 * that only one registry has count through the services that they declare.
 */
function noticed(store: Store): unknown {
  const { services, endpoints } = buildEnvironment(
    undefined,
    store,
    noChanges,
    'cluster.local',
    'reached',
  );
  const ofShop = [...services.values()]
    .flat()
    .filter(({ namespace }) => namespace === contractNamespace);
  return {
    // A host may have several declarations.
    services: [...groupedBy(ofShop, ({ host }) => host)]
      .map(([host, declared]) => ({
        host,
        resolutions: sorted(declared.map(({ resolution }) => resolution)),
        ports: sorted(
          declared.flatMap(({ ports }) =>
            ports.map(({ number, protocol }) => `${number} ${protocol}`),
          ),
        ),
        endpoints: sorted(
          declared.flatMap((service) =>
            [...(endpoints.get(serviceKey(service)) ?? [])].flatMap(([port, list]) =>
              list.map(({ address, port: target, labels, locality, weight, readiness }) =>
                JSON.stringify({ port, address, target, labels, locality, weight, readiness }),
              ),
            ),
          ),
        ),
      }))
      .sort((a, b) => (a.host < b.host ? -1 : 1)),
    contents: Object.fromEntries(
      [...eachResource(store.resources)]
        .filter(([, { namespace }]) => namespace === contractNamespace)
        .filter(([, { kind }]) => !/^Consul|^ServiceEntry$/.test(kind))
        .map(([key, resource]) => [key, { ...resource, origin: undefined }]),
    ),
  };
}

/** Returns what a folder with these documents shows. */
function expected(documents: readonly KubeDocument[]): unknown {
  const text = documents.map((document) => JSON.stringify(document)).join('\n---\n');
  const { resources } = readResources(text, { source: '', path: '', defaultNamespace: 'default' });
  const event = { type: 'changed', source: 'files', upserts: resources, removes: [] } as const;
  const [store] = reduceStore(emptyStore(['files']), event);
  return noticed(store);
}

const shows = ({ store, written }: Pick<World<unknown>, 'store' | 'written'>): Promise<void> =>
  expect.poll(() => noticed(store())).toEqual(expected(written()));

const lostOf = ({ sources }: Store, name: string) => sources.get(name)?.lost;

type MakeStage<T> = () => RegistryStage<T> | Promise<RegistryStage<T>>;

/** Returns a promise whose check runs with a source that has a subscriber. */
function promisedOf<T>(makeStage: MakeStage<T>, all: readonly T[]) {
  return (
    name: string,
    check: (world: World<T>) => Promise<void>,
    {
      begin = all,
      sources = (sourceName: string) => [sourceName],
    }: {
      readonly begin?: readonly T[];
      /** The sources of the store, in order, given the name of this one. */
      readonly sources?: (name: string) => readonly string[];
    } = {},
  ): Promised => ({
    name,
    async check() {
      const stage = await makeStage();
      let store = emptyStore(sources(stage.source));
      let atStart: unknown;
      let listening: Subscription | undefined;
      try {
        for (const object of begin) await stage.put(object);
        const failures: unknown[] = [];
        listening = stage.event$.subscribe({
          next: (event) => {
            [store] = reduceStore(store, event);
            if (event.type === 'synced') atStart ??= noticed(store);
          },
          error: (error: unknown) => failures.push(error),
        });
        await expect.poll(() => store.sources.get(stage.source)?.isSynced).toBe(true);
        expect(atStart).toEqual(expected(stage.written()));
        await check({ ...stage, store: () => store });
        expect(failures).toEqual([]);
      } finally {
        listening?.unsubscribe();
        await stage.dispose();
      }
    },
  });
}

/** Returns the promises of each registry. */
export function registryContract<T>(
  makeStage: MakeStage<T>,
  { all, others, service }: RegistryObjects<T>,
): readonly Promised[] {
  const promised = promisedOf(makeStage, all);
  const orders: Readonly<Record<string, readonly T[]>> = {
    'as they are': all,
    'the last one first': all.toReversed(),
    'from the middle': [...all.slice(all.length / 2), ...all.slice(0, all.length / 2)],
  };
  const second = 'second';
  /** Gives another source each resource of the store, with other content. */
  const withSecond = (store: Store): Store => {
    const upserts = [...eachResource(store.resources)].map(([, resource]) => ({
      ...resource,
      annotations: { ...resource.annotations, source: second },
      origin: { ...resource.origin, source: second },
    }));
    const [after] = reduceStore(store, { type: 'changed', source: second, upserts, removes: [] });
    return reduceStore(after, { type: 'synced', source: second })[0];
  };
  const winners = (store: Store) =>
    new Set([...eachResource(store.resources)].map(([, { origin }]) => origin.source));

  return [
    promised('shows what a folder with its objects shows', shows),
    promised('is synced without an object', shows, { begin: [] }),
    ...Object.entries(orders).map(([order, objects]) =>
      promised(
        `comes to the same whatever the order of the changes: ${order}`,
        async (world) => {
          for (const object of objects) await world.put(object);
          await shows(world);
        },
        { begin: others },
      ),
    ),
    promised(
      'shows each change that comes alone',
      async (world) => {
        for (const object of all) {
          await world.put(object);
          await shows(world);
        }
      },
      { begin: [] },
    ),
    promised('replaces an object, and removes one', async (world) => {
      await world.put(service('b', 8080));
      await world.remove(service('a', 80));
      await shows(world);
    }),
    promised('keeps everything while it cannot be read', async ({ outage, store, source }) => {
      const before = noticed(store());
      await outage.begin();
      await expect.poll(() => lostOf(store(), source)).toBeDefined();
      expect(noticed(store())).toEqual(before);
      await outage.end();
      await expect.poll(() => lostOf(store(), source)).toBeUndefined();
      expect(noticed(store())).toEqual(before);
    }),
    promised('has what changed during an outage', async (world) => {
      const { outage, put, remove, store, source } = world;
      await outage.begin();
      await expect.poll(() => lostOf(store(), source)).toBeDefined();
      await outage.end();
      await put(service('c', 80));
      await remove(service('a', 80));
      await shows(world);
      await expect.poll(() => lostOf(store(), source)).toBeUndefined();
    }),
    promised(
      'comes first with each key that a later source has too',
      ({ store, source }) => {
        const both = withSecond(store());
        expect(isSynced(both)).toBe(true);
        expect(winners(both)).toEqual(new Set([source]));
        expect(noticed(both)).toEqual(noticed(store()));
        expect(flawsOf(both).map(({ key }) => key)).toEqual(
          [...eachResource(store().resources)].map(([key]) => key),
        );
        return Promise.resolve();
      },
      { sources: (name) => [name, second] },
    ),
    promised(
      'comes after an earlier source, and returns when that has nothing more',
      ({ store, source }) => {
        const both = withSecond(store());
        expect(winners(both)).toEqual(new Set([second]));
        const removes = [...eachResource(both.resources)].map(([key]) => key);
        const event = { type: 'changed', source: second, upserts: [], removes } as const;
        const [after] = reduceStore(both, event);
        expect(winners(after)).toEqual(new Set([source]));
        expect(noticed(after)).toEqual(noticed(store()));
        return Promise.resolve();
      },
      { sources: (name) => [second, name] },
    ),
  ];
}

const policy = (action: string): KubeDocument => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace: contractNamespace, name: 'policy' },
  spec: { action, rules: [{ to: [{ operation: { ports: ['80'] } }] }] },
});

/** Returns the promises of a registry that takes any text as an object. */
export function anyTextContract(makeStage: MakeStage<KubeDocument>): readonly Promised[] {
  const promised = promisedOf(makeStage, [policy('DENY')]);
  return [
    promised('keeps the last good version of an object', async (world) => {
      const { put, store } = world;
      const before = noticed(store());
      await put(policy('FORBID'));
      await expect.poll(() => flawsOf(store()).length).toBeGreaterThan(0);
      expect(flawsOf(store())[0]).toMatchObject({
        key: 'AuthorizationPolicy/shop/policy',
        field: 'spec.action',
        severity: 'error',
      });
      expect(noticed(store())).toEqual(before);
      await put(policy('ALLOW'));
      await expect.poll(() => flawsOf(store())).toEqual([]);
      await shows(world);
    }),
  ];
}
