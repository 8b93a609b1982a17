import type { Observable, Subscription } from 'rxjs';
import { expect } from 'vitest';
import { eachResource } from '../../src/pilot-discovery/environment/resources.ts';
import {
  emptyStore,
  flawsOf,
  isSynced,
  reduceStore,
  type Store,
} from '../../src/pilot-discovery/environment/store.ts';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import { readResources } from '../../src/pilot-discovery/istio/read-resources.ts';
import type { KubeDocument } from '../support/fake-kube.ts';

/** A registry whose objects a test may change, and a source that reads it. */
export interface RegistryStage {
  /** The name of the source in its events. */
  readonly source: string;
  readonly event$: Observable<StoreEvent>;
  readonly put: (object: KubeDocument) => void;
  readonly remove: (object: KubeDocument) => void;
  /** Makes the registry such that it cannot be read, until `end`. */
  readonly outage: { readonly begin: () => void; readonly end: () => void };
  readonly dispose: () => void;
}

/** One promise of each registry. */
interface Promised {
  readonly name: string;
  readonly check: () => Promise<void>;
}

const service = (name: string, port = 80): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  spec: { selector: { app: name }, ports: [{ name: 'http', port }] },
});
const pod = (name: string, address: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name },
  spec: { nodeName: 'one', containers: [{ name: 'app', ports: [{ containerPort: 80 }] }] },
  status: { podIP: address, phase: 'Running' },
});
const slice = (name: string, pods: Readonly<Record<string, string>>): KubeDocument => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'shop',
    name: `${name}-1`,
    ...{ labels: { 'kubernetes.io/service-name': name } },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 80 }],
  endpoints: Object.entries(pods).map(([podName, address]) => ({
    addresses: [address],
    targetRef: { kind: 'Pod', name: podName },
  })),
});
const rule = (name: string, host: string): KubeDocument => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { namespace: 'shop', name },
  spec: { hosts: [host], http: [{ route: [{ destination: { host } }] }] },
});
const policy = (action: string): KubeDocument => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace: 'shop', name: 'policy' },
  spec: { action, rules: [{ to: [{ operation: { ports: ['80'] } }] }] },
});
const objects = [
  service('a'),
  service('b'),
  pod('a-1', '10.0.0.1'),
  pod('b-1', '10.0.0.2'),
  slice('a', { 'a-1': '10.0.0.1' }),
  rule('r', 'a'),
  policy('DENY'),
];

/** Versions of resources, by key. */
type Versions = Readonly<Record<string, string>>;

const versionsOf = (entries: Iterable<readonly [string, { readonly version: string }]>): Versions =>
  Object.fromEntries([...entries].map(([key, { version }]) => [key, version]));

/** What a folder with one file of these objects has. */
function expected(...documents: readonly KubeDocument[]): Versions {
  const text = documents.map((document) => JSON.stringify(document)).join('\n---\n');
  const { resources } = readResources(text, { source: '', path: '', defaultNamespace: 'default' });
  return versionsOf(
    resources.map((read) => [`${read.kind}/${read.namespace}/${read.name}`, read] as const),
  );
}

/** What each registry promises of the objects of Kubernetes that are put into it. */
export function registryContract(stage: () => RegistryStage): readonly Promised[] {
  /** Runs a check with a source that is listened to. */
  const promised = (
    name: string,
    check: (world: RegistryStage & { readonly store: () => Store }) => Promise<void>,
    begin: readonly KubeDocument[] = objects,
  ): Promised => ({
    name,
    async check() {
      const world = stage();
      let store = emptyStore([world.source]);
      let versionsAtStart: Versions | undefined;
      let listening: Subscription | undefined;
      try {
        for (const object of begin) world.put(object);
        const failures: unknown[] = [];
        listening = world.event$.subscribe({
          next: (event) => {
            [store] = reduceStore(store, event);
            if (event.type === 'synced' && versionsAtStart === undefined)
              versionsAtStart = versionsOf(eachResource(store.resources));
          },
          error: (error: unknown) => failures.push(error),
        });
        await expect.poll(() => isSynced(store)).toBe(true);
        expect(versionsAtStart).toEqual(expected(...begin));
        await check({ ...world, store: () => store });
        expect(failures).toEqual([]);
      } finally {
        listening?.unsubscribe();
        world.dispose();
      }
    },
  });
  const versions = (store: Store) => versionsOf(eachResource(store.resources));
  const lostOf = ({ sources }: Store) => [...sources.values()].map(({ lost }) => lost)[0];

  return [
    promised('has everything when it is synced, and nothing else', () => Promise.resolve()),
    promised('is synced without an object', () => Promise.resolve(), []),
    promised(
      'comes to the same whatever the order of the changes',
      async ({ put, store }) => {
        for (const object of objects.toReversed()) put(object);
        await expect.poll(() => versions(store())).toEqual(expected(...objects));
      },
      [service('a', 81), rule('r', 'b')],
    ),
    promised('replaces an object, and removes one', async ({ put, remove, store }) => {
      const [a = service('a'), ...others] = objects;
      put(service('b', 8080));
      remove(a);
      const left = others.filter(
        ({ metadata, kind }) => kind !== 'Service' || metadata.name !== 'b',
      );
      await expect.poll(() => versions(store())).toEqual(expected(...left, service('b', 8080)));
    }),
    promised('keeps the last good version of an object', async ({ put, store }) => {
      put(policy('FORBID'));
      await expect.poll(() => flawsOf(store()).length).toBeGreaterThan(0);
      expect(flawsOf(store())[0]).toMatchObject({
        key: 'AuthorizationPolicy/shop/policy',
        field: 'spec.action',
        severity: 'error',
      });
      expect(versions(store())).toEqual(expected(...objects));
      put(policy('ALLOW'));
      await expect.poll(() => flawsOf(store())).toEqual([]);
      expect(versions(store())).toEqual(
        expected(...objects.filter(({ kind }) => kind !== 'AuthorizationPolicy'), policy('ALLOW')),
      );
    }),
    promised('keeps everything while it cannot be read', async ({ outage, store }) => {
      outage.begin();
      await expect.poll(() => lostOf(store())).toBeDefined();
      expect(versions(store())).toEqual(expected(...objects));
      outage.end();
      await expect.poll(() => lostOf(store())).toBeUndefined();
      expect(versions(store())).toEqual(expected(...objects));
    }),
    promised('has what changed during an outage', async ({ outage, put, remove, store }) => {
      const [a = service('a'), ...others] = objects;
      outage.begin();
      await expect.poll(() => lostOf(store())).toBeDefined();
      outage.end();
      put(service('c'));
      remove(a);
      await expect.poll(() => versions(store())).toEqual(expected(...others, service('c')));
      await expect.poll(() => lostOf(store())).toBeUndefined();
    }),
  ];
}
