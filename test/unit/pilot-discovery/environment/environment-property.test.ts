import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedMap } from '../../../../src/shared/maps/sorted-map.ts';
import { defaultMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { type AnyResource, keyOf } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import type { Environment } from '../../../../src/pilot-discovery/environment/environment.ts';
import {
  type Changes,
  mergeChanges,
  noChanges,
} from '../../../../src/pilot-discovery/environment/changes.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import {
  anyResource,
  resource,
  route,
  serviceEntry,
  toHosts,
  virtualService,
  workload,
} from '../../../support/mesh-resources.ts';

const namespaces = fc.constantFrom('n1', 'n2');
const names = fc.constantFrom('a', 'b', 'c');
const hosts = fc.uniqueArray(fc.constantFrom('a.com', 'b.com', 'short', 'a.n1.svc.cluster.local'), {
  minLength: 1,
  maxLength: 2,
});
const labels = fc.constantFrom({}, { app: 'x' }, { app: 'y' }, { app: 'x', v: '1' });
const workloads = fc
  .record({
    address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'unix:///s'),
    labels,
    serviceAccount: fc.constantFrom('', 'one', 'two'),
  })
  .map(workload);
const ports = fc.constantFrom(
  [{ number: 80, name: 'http', protocol: 'http', targetPort: undefined } as const],
  [{ number: 80, name: 'web', protocol: 'http', targetPort: 8080 } as const],
  [80, 81].map(
    (number) =>
      ({ number, name: `http-${number}`, protocol: 'http', targetPort: undefined }) as const,
  ),
);
const entries = fc
  .record({
    hosts,
    ports,
    resolution: fc.constantFrom('none', 'static', 'dns'),
    endpoints: fc.array(workloads, { maxLength: 2 }),
    workloadSelector: fc.option(labels, { nil: undefined }),
  })
  .map(serviceEntry);
const routes = fc
  .record({
    to: fc.constantFrom('a.com', 'short'),
    delegate: fc.option(fc.record({ name: names, namespace: fc.constantFrom('', 'n1') }), {
      nil: undefined,
    }),
  })
  .map(({ to, delegate }) => route({ ...toHosts(to), delegate }));
const virtualServices = fc
  .record({
    hosts: fc.oneof(hosts, fc.constant([])),
    http: fc.array(routes, { maxLength: 2 }),
    exportTo: fc.constantFrom([], ['n1']),
  })
  .map(virtualService);
const rules = fc.record({
  host: fc.constantFrom('a.com', 'short'),
  subsets: fc.constant([]),
  exportTo: fc.constant([]),
});

const kubernetesServices = fc
  .record({
    reached: fc.constantFrom(
      { type: 'addresses', addresses: [] } as const,
      { type: 'headless' } as const,
      { type: 'alias', host: 'a.com' } as const,
      { type: 'alias', host: 'a.n1.svc.cluster.local' } as const,
      { type: 'alias', host: 'b.n1.svc.cluster.local' } as const,
    ),
    selector: fc.option(labels, { nil: undefined }),
    atPod: fc.constantFrom('web', 8_080),
    called: fc.constantFrom('ready', 'all'),
    ports: fc.uniqueArray(fc.constantFrom(80, 81), { minLength: 1 }),
    external: fc.constantFrom([], ['192.0.2.1'], ['192.0.2.1', '192.0.2.2']),
  })
  .map(({ reached, selector, atPod, called, ports: numbers, external }) => ({
    reached,
    external,
    ports: numbers.map(
      (number) =>
        ({
          number,
          name: `p${number}`,
          protocol: 'auto',
          targetPort: undefined,
          atPod,
        }) as const,
    ),
    selector,
    called,
    exportTo: [],
    subjectAltNames: [],
    serviceAccounts: [],
    trafficDistribution: 'any' as const,
  }));
const slices = fc.record({
  service: names,
  ports: fc
    .uniqueArray(fc.constantFrom(80, 81))
    .map((numbers) => numbers.map((number) => ({ name: `p${number}`, number: number + 8_000 }))),
  endpoints: fc.array(
    fc.record({
      addresses: fc.constantFrom(['10.0.0.1'], ['10.0.0.2', '10.0.0.3']),
      readiness: fc.constantFrom('ready', 'not-ready'),
      pod: fc.constantFrom('', 'a'),
    }),
    { maxLength: 2 },
  ),
});

const endpoints = slices.map(({ ports, endpoints: all }) => ({
  subsets: [{ ports, endpoints: all }],
}));

const pods = fc.record({
  addresses: fc.constantFrom([], ['10.0.0.1'], ['10.0.0.4', 'fd00::4']),
  ports: fc.constantFrom(new Map(), new Map([['web', 8_080]])),
  serviceAccount: fc.constantFrom('one', 'two'),
  readiness: fc.constantFrom('ready', 'not-ready'),
  locality: fc.constant(''),
  network: fc.constant(''),
  node: fc.constant(''),
  workloadName: fc.constant('w'),
});

const resources: fc.Arbitrary<AnyResource> = fc
  .record({ namespace: namespaces, name: names, createdMs: fc.nat(2) })
  .chain(({ namespace, name, createdMs }) =>
    fc.oneof(
      entries.map((spec) => anyResource(`ServiceEntry/${namespace}/${name}`, spec, { createdMs })),
      workloads.map((spec) =>
        anyResource(`WorkloadEntry/${namespace}/${name}`, spec, { createdMs }),
      ),
      kubernetesServices.map((spec) =>
        anyResource(`Service/${namespace}/${name}`, spec, { createdMs }),
      ),
      endpoints.map((spec) => anyResource(`Endpoints/${namespace}/${name}`, spec, { createdMs })),
      slices.map((spec) => anyResource(`EndpointSlice/${namespace}/${name}`, spec, { createdMs })),
      fc
        .tuple(pods, labels)
        .map(([spec, podLabels]) =>
          anyResource(`Pod/${namespace}/${name}`, spec, { createdMs, labels: podLabels }),
        ),
      virtualServices.map((spec) =>
        anyResource(`VirtualService/${namespace}/${name}`, spec, { createdMs }),
      ),
      rules.map((spec) =>
        anyResource(
          `DestinationRule/${namespace}/${name}`,
          { ...spec, trafficPolicy: undefined, workloadSelector: undefined },
          { createdMs },
        ),
      ),
      fc.constant(
        anyResource(
          `PeerAuthentication/${namespace}/${name}`,
          { selector: undefined, mode: 'strict', portLevel: new Map() },
          { createdMs },
        ),
      ),
    ),
  );

const sources = fc.constantFrom('files', 'others');
const events: fc.Arbitrary<StoreEvent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        source: sources,
        upserts: fc.array(resources, { maxLength: 4 }),
        removed: fc.array(resources, { maxLength: 3 }),
      })
      .map(
        ({ source, upserts, removed }) =>
          ({ type: 'changed', source, upserts, removes: removed.map(keyOf) }) as const,
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('one', 'two')
      .map(
        (trustDomain) => ({ type: 'mesh', mesh: { ...defaultMeshConfig, trustDomain } }) as const,
      ),
  },
);

const all: Changes = noChanges;
/** Builds an environment as a control plane does that has just started. */
const fromScratch = (store: Store) =>
  buildEnvironment(undefined, store, all, 'cluster.local', 'reached');
/** Prints an environment; for maps, the order counts as well. */
const printed = (environment: Environment) =>
  JSON.stringify({ ...environment, resources: undefined }, (_, value: unknown) =>
    value instanceof Map || value instanceof SortedMap ? [...value] : value,
  );

describe('buildEnvironment', () => {
  it('makes of a store what it would make of it from scratch, whatever happened before, and however it was merged', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(events, fc.boolean()), { maxLength: 25 }), (steps) => {
        let store = emptyStore(['files', 'others']);
        let environment = fromScratch(store);
        let waiting = noChanges;
        for (const [event, isBuilt] of steps) {
          const [next, changes] = reduceStore(store, event);
          store = next;
          waiting = mergeChanges(waiting, changes);
          if (!isBuilt) continue;
          environment = buildEnvironment(environment, store, waiting, 'cluster.local', 'reached');
          waiting = noChanges;
          expect(printed(environment)).toBe(printed(fromScratch(store)));
        }
        environment = buildEnvironment(environment, store, waiting, 'cluster.local', 'reached');
        expect(environment).toEqual(fromScratch(store));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what no change has touched, also of what came back as it was', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 10 }), resources, (before, touched) => {
        let store = emptyStore(['files', 'others']);
        for (const event of before) [store] = reduceStore(store, event);
        const environment = fromScratch(store);
        const kind = touched.kind === 'Sidecar' ? 'PeerAuthentication' : 'Sidecar';
        const other = {
          ...resource('Sidecar/n/s', {
            workloadSelector: undefined,
            ingress: [],
            egress: [],
            inboundConnectionPool: undefined,
            outboundTrafficPolicy: undefined,
          }),
          kind,
        };
        const [next, changes] = reduceStore(store, {
          type: 'changed',
          source: 'files',
          upserts: [other as AnyResource],
          removes: [],
        });
        const after = buildEnvironment(environment, next, changes, 'cluster.local', 'reached');
        for (const part of [
          'services',
          'endpoints',
          'virtualServices',
          'destinationRules',
          'workloadEntries',
          'warnings',
        ] as const) {
          expect(after[part]).toBe(environment[part]);
        }
      }),
      { numRuns: 50 },
    );
  });
});
