import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameContent } from '../../../../src/pilot-discovery/istio/documents/is-same-content.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import type { Environment } from '../../../../src/pilot-discovery/environment/environment.ts';
import { eachResource } from '../../../../src/pilot-discovery/environment/resources.ts';
import { emptyStore, reduceStore } from '../../../../src/pilot-discovery/environment/store.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import { readMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const service = (namespace: string, name = 'web') => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: ${namespace} }
spec: { selector: { app: web }, ports: [{ name: http, port: 80 }] }
`;
const pod = (namespace: string, address: string, labels = '') => `
apiVersion: v1
kind: Pod
metadata: { name: web-1, namespace: ${namespace}, labels: { app: web${labels} } }
spec: { containers: [] }
status: { podIP: ${address} }
`;
const slice = (namespace: string) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-1, namespace: ${namespace}, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ name: http, port: 80 }]
endpoints: [{ addresses: [10.0.0.9] }, { addresses: [10.0.0.1], targetRef: { kind: Pod, name: web-1 } }]
`;
const namespace = (name: string, labels = '') => `
apiVersion: v1
kind: Namespace
metadata: { name: ${name}, labels: { ${labels} } }
`;
const node = `
apiVersion: v1
kind: Node
metadata: { name: one }
`;

const texts = (...all: readonly string[]): Partial<Extract<StoreEvent, { type: 'changed' }>> => ({
  upserts: readResources(all.join('---\n'), { source: 'a', path: '', defaultNamespace: 'x' })
    .resources,
});
const changed = (event: Partial<Extract<StoreEvent, { type: 'changed' }>>): StoreEvent => ({
  type: 'changed',
  source: 'a',
  upserts: [],
  removes: [],
  ...event,
});
const mesh = (yaml: string): StoreEvent => ({
  type: 'mesh',
  mesh: readMeshConfig(yaml, 'mesh.yaml').mesh,
});
const selectors = mesh("discoverySelectors: [{ matchLabels: { discover: 'yes' } }]");
const isYes = "discover: 'yes'";

/**
 * Returns the keys in use after each event, without Namespaces. Each environment must equal the one
 * that is built from its store alone. Each change must name all keys that differ.
 */
function used(...events: readonly StoreEvent[]): readonly string[] {
  let store = emptyStore(['a', 'b']);
  let environment: Environment | undefined;
  return events.map((event) => {
    const before = new Map(eachResource(store.resources));
    const [next, changes] = reduceStore(store, event);
    store = next;
    const after = new Map(eachResource(store.resources));
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
      (key) => !isSameContent(before.get(key), after.get(key)),
    );
    expect([...changes.keys].sort()).toEqual(expect.arrayContaining(differing.sort()));
    environment = buildEnvironment(environment, store, changes, 'cluster.local', 'all');
    const alone = buildEnvironment(undefined, store, changes, 'cluster.local', 'all');
    expect([...environment.services]).toEqual([...alone.services]);
    expect([...environment.endpoints]).toEqual([...alone.endpoints]);
    return [...after.keys()]
      .filter((key) => !key.startsWith('Namespace/'))
      .sort()
      .join(' ');
  });
}

describe('the namespaces that discoverySelectors select', () => {
  const shop = 'Service/shop/web';
  const bank = 'Service/bank/web';
  const both = `${bank} ${shop}`;
  const all = [service('shop'), service('bank'), namespace('shop', isYes), namespace('bank')];

  it('are all if there is no selector, or one that selects everything', () => {
    expect(used(changed(texts(...all)), mesh('discoverySelectors: [{}]'))).toEqual([both, both]);
  });

  it('are all if there is no Namespace at all', () => {
    const only = [service('shop'), service('bank')];
    expect(used(selectors, changed(texts(...only)))[1]).toBe(both);
    expect(used(selectors, changed(texts(...only)), changed(texts(namespace('x'))))[2]).toBe('');
  });

  it('change with the labels of a Namespace', () => {
    expect(
      used(
        changed(texts(...all)),
        selectors,
        changed(texts(namespace('bank', isYes))),
        changed(texts(namespace('shop', 'discover: no-more'))),
        changed({ removes: ['Namespace//bank'] }),
        mesh(''),
      ),
    ).toEqual([both, shop, both, bank, '', both]);
  });

  it('hide what comes before its Namespace, until the Namespace comes', () => {
    expect(
      used(
        selectors,
        changed(texts(namespace('bank'), service('shop'))),
        changed(texts(namespace('shop', isYes))),
        changed(texts(service('shop', 'more'))),
        changed({ removes: [shop] }),
      ),
    ).toEqual(['', '', shop, `Service/shop/more ${shop}`, 'Service/shop/more']);
  });

  it('hold for the resources of all sources, and the first source wins as before', () => {
    const ofB = { source: 'b', ...texts(service('shop'), service('bank')) };
    expect(
      used(
        changed(texts(...all)),
        selectors,
        changed(ofB),
        changed({ removes: [shop, bank] }),
        changed(texts(namespace('bank', isYes))),
      ),
    ).toEqual([both, shop, shop, shop, both]);
  });

  it('never concern resources without a namespace', () => {
    expect(used(selectors, changed(texts(namespace('x'), node)))[1]).toBe('Node//one');
  });

  it.each<readonly [selector: string, labels: string, isSeen: boolean]>([
    ["{ matchLabels: { a: '1', b: '2' } }", "a: '1', b: '2'", true],
    ["{ matchLabels: { a: '1', b: '2' } }", "a: '1'", false],
    ["{ matchExpressions: [{ key: a, operator: In, values: ['1', '2'] }] }", "a: '2'", true],
    ["{ matchExpressions: [{ key: a, operator: In, values: ['1'] }] }", '', false],
    ["{ matchExpressions: [{ key: a, operator: NotIn, values: ['1'] }] }", "a: '1'", false],
    ["{ matchExpressions: [{ key: a, operator: NotIn, values: ['1'] }] }", '', true],
    ['{ matchExpressions: [{ key: a, operator: Exists }] }', "a: ''", true],
    ['{ matchExpressions: [{ key: a, operator: Exists }] }', "b: ''", false],
    ['{ matchExpressions: [{ key: toString, operator: Exists }] }', '', false],
    ['{ matchExpressions: [{ key: a, operator: DoesNotExist }] }', "a: ''", false],
    ['{ matchExpressions: [{ key: a, operator: DoesNotExist }] }', '', true],
    [
      "{ matchLabels: { a: '1' }, matchExpressions: [{ key: b, operator: Exists }] }",
      "a: '1'",
      false,
    ],
    ["{ matchLabels: { a: '1' } }, { matchLabels: { a: '2' } }", "a: '2'", true],
  ])('%s on { %s }: %s', (selector, labels, isSeen) => {
    const steps = used(
      mesh(`discoverySelectors: [${selector}]`),
      changed(texts(namespace('shop', labels), service('shop'))),
    );
    expect(steps[1]).toBe(isSeen ? shop : '');
  });

  it('come to the same whatever the order of the changes', () => {
    const event = fc.oneof(
      fc
        .tuple(fc.constantFrom('shop', 'bank'), fc.constantFrom('', isYes))
        .map((named) => changed(texts(namespace(...named)))),
      fc
        .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('shop', 'bank'))
        .map(([source, place]) => changed({ source, ...texts(service(place)) })),
      fc
        .tuple(
          fc.constantFrom('a', 'b'),
          fc.constantFrom('Service/shop/web', 'Service/bank/web', 'Namespace//shop'),
        )
        .map(([source, key]) => changed({ source, removes: [key] })),
      fc.constantFrom(selectors, mesh(''), mesh('discoverySelectors: [{}]')),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const last = used(...events).at(-1) ?? '';
        const store = events.reduce(
          (now, each) => reduceStore(now, each)[0],
          emptyStore(['a', 'b']),
        );
        // This is the same content, with the MeshConfig last, and each source at once.
        const again = [
          ...[...store.sources].map(([source, { resources }]) =>
            changed({
              source,
              upserts: [...eachResource(resources)].map(([, resource]) => resource),
            }),
          ),
          { type: 'mesh', mesh: store.mesh } as const,
        ];
        expect(used(...again).at(-1)).toBe(last);
      }),
    );
  });
});

describe('the network of the root namespace', () => {
  const networksWith = (...labels: readonly string[]) => {
    let store = emptyStore(['a']);
    let environment: Environment | undefined;
    return labels.map((label) => {
      const [next, changes] = reduceStore(
        store,
        changed(texts(namespace('istio-system', label), ...parts)),
      );
      store = next;
      environment = buildEnvironment(environment, store, changes, 'cluster.local', 'all');
      const endpoints = environment.endpoints.get('shop/web.shop.svc.cluster.local')?.get(80) ?? [];
      return endpoints.map(({ network }) => network).join();
    });
  };
  const parts = [service('shop'), slice('shop'), pod('shop', '10.0.0.1')];

  it('is that of endpoints in Kubernetes, and follows its label', () => {
    expect(
      networksWith('', 'topology.istio.io/network: n', 'topology.istio.io/network: m', ''),
    ).toEqual([',', 'n,n', 'm,m', ',']);
  });

  it('is not that of a Pod whose own label names one', () => {
    parts[2] = pod('shop', '10.0.0.1', ', topology.istio.io/network: own');
    expect(networksWith('topology.istio.io/network: n')).toEqual(['n,own']);
  });
});
