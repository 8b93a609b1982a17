import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProxyNode } from '../../../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { routesOf } from '../../../../src/pilot-discovery/generate/routes/routes.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { type AnyResource, keyOf } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { type TypedView, xdsTypes } from '../../../../src/pilot-discovery/push/view.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import { noChanges } from '../../../../src/pilot-discovery/environment/changes.ts';
import { eachResource } from '../../../../src/pilot-discovery/environment/resources.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import { proxyAt } from '../../../support/generated.ts';

/** Proxies in namespaces that a resource singles out, and in two that none does. */
const nodes: readonly ProxyNode[] = [
  ...['n1', 'n2', 'n3', 'n4'].map((namespace, index) =>
    proxyAt({
      namespace,
      addresses: [`10.0.0.${index + 1}`],
      dnsDomain: `${namespace}.svc.cluster.local`,
    }),
  ),
  proxyAt({
    namespace: 'n1',
    addresses: ['10.0.0.9'],
    dnsDomain: 'n1.svc.cluster.local',
    labels: { app: 'other' },
  }),
  proxyAt({
    namespace: 'n4',
    addresses: ['fd00::1'],
    dnsDomain: 'n4.my.domain',
    locality: 'r1/z2/s',
    interception: 'none',
  }),
  proxyAt({
    namespace: 'n5',
    addresses: ['10.0.0.5'],
    dnsDomain: 'n5.svc.cluster.local',
    labels: { app: 'other' },
    locality: 'r1/z1/s',
  }),
  proxyAt({ namespace: 'n3', role: 'router', dnsDomain: 'n3.svc.cluster.local' }),
  proxyAt({ namespace: 'n1', role: 'router', labels: { app: 'other' }, addresses: ['10.0.0.7'] }),
];

function resources(
  kind: string,
  namespace: string,
  name: string,
  spec: string,
): readonly AnyResource[] {
  const group = ['PeerAuthentication', 'AuthorizationPolicy'].includes(kind)
    ? 'security'
    : 'networking';
  const text = `apiVersion: ${group}.istio.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: ${spec}\n`;
  return readResources(text, { source: 'files', path: `${name}.yaml`, defaultNamespace: 'default' })
    .resources;
}

const exportTo = ['', ', exportTo: [.]', ', exportTo: [n3]', ", exportTo: ['*']"];
const endpoints = [
  '{ address: 10.0.0.1 }',
  '{ address: 10.0.0.2, labels: { v: a }, locality: r1/z1, serviceAccount: a }',
  '{ address: 10.0.0.3, labels: { v: b, app: other, security.istio.io/tlsMode: istio }, locality: r2/z1 }',
];
const portsOf = [
  '{ number: 80, name: http, protocol: HTTP }',
  '{ number: 81, name: tcp, protocol: TCP }',
  '{ number: 80, name: http, protocol: HTTP }, { number: 82, name: auto }',
];
const ways = [
  'resolution: STATIC',
  'resolution: DNS',
  'resolution: NONE',
  'resolution: STATIC, addresses: [240.0.0.1]',
];
const policies = [
  'trafficPolicy: { connectionPool: { tcp: { maxConnections: 3 } } }',
  'trafficPolicy: { outlierDetection: { interval: 5s } }',
  'trafficPolicy: { outlierDetection: { interval: 5s }, loadBalancer: { localityLbSetting: { failoverPriority: [app] } } }',
  'trafficPolicy: { tls: { mode: DISABLE } }, subsets: [{ name: a, labels: { v: a } }]',
  'workloadSelector: { matchLabels: { app: other } }, subsets: [{ name: b, labels: { v: b } }]',
  'trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: x } } }',
];
const matches = [
  'match: [{ uri: { prefix: /a } }], ',
  'match: [{ sourceLabels: { app: other } }], ',
  'match: [{ sourceNamespace: n2 }], ',
  'timeout: 3s, ',
];

/** Hosts that Sidecars name. */
const named = [
  './*',
  'n1/*',
  '*/a.mesh',
  'n2/a.mesh',
  '*/*.svc.cluster.local',
  'n1/b.n1.svc.cluster.local',
  '~/*',
  '*/*',
];

/** Blocks that come before the one for all ports. */
const blocks = [
  '',
  "{ port: { number: 80, protocol: HTTP }, hosts: ['*/a.mesh'] }, ",
  '{ port: { number: 81, protocol: TCP }, captureMode: NONE, hosts: [n1/*] }, ',
  "{ port: { number: 82 }, bind: 127.0.0.2, hosts: ['*/*'] }, ",
];

const namespace = fc.constantFrom('n1', 'n1', 'n2', 'istio-system');
const host = fc.constantFrom(
  'a.mesh',
  'a.mesh',
  'a.mesh',
  'b.n1.svc.cluster.local',
  'c.n2.svc.cluster.local',
);
const some = fc.constantFrom;

/** A resource that can be read, or none. */
const change: fc.Arbitrary<readonly AnyResource[]> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        namespace,
        host,
        some(...portsOf),
        some(...ways),
        fc.subarray(endpoints),
        some(...exportTo),
      )
      .map(([where, name, ports, way, chosenEndpoints, to]) =>
        resources(
          'ServiceEntry',
          where,
          `s-${name}`,
          `{ hosts: [${name}], location: MESH_INTERNAL, ports: [${ports}], ${way}${way.endsWith('NONE') ? '' : `, endpoints: [${way.endsWith('DNS') ? '' : chosenEndpoints.join(', ')}]`}${to} }`,
        ),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(namespace, host, some(...policies), some(...exportTo))
      .map(([where, name, policy, to]) =>
        resources('DestinationRule', where, `d-${name}`, `{ host: ${name}, ${policy}${to} }`),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(namespace, host, some(...matches), some(...exportTo))
      .map(([where, name, match, to]) =>
        resources(
          'VirtualService',
          where,
          `v-${name}`,
          `{ hosts: [${name}], http: [{ ${match}route: [{ destination: { host: a.mesh } }] }, { match: [{ uri: { prefix: /b } }], route: [{ destination: { host: b.n1.svc.cluster.local } }] }]${to} }`,
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        namespace,
        some('{ app: other }', '{}'),
        some(80, 84),
        some('*', 'n1/a.com', './b.com'),
        some(
          '',
          ", { port: { number: 444, name: tls, protocol: TLS }, hosts: ['*.mesh'], tls: { mode: AUTO_PASSTHROUGH } }",
        ),
      )
      .map(([where, selector, port, name, more]) =>
        resources(
          'Gateway',
          where,
          'g',
          `{ selector: ${selector}, servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ['${name}'] }, { port: { number: 443, name: https, protocol: HTTPS }, hosts: ['${name}'], tls: { mode: ISTIO_MUTUAL } }${more}] }`,
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(namespace, some('a.com', 'b.com'), some(...matches), host, some(...exportTo))
      .map(([where, name, match, target, to]) =>
        resources(
          'VirtualService',
          where,
          `g-${name}`,
          `{ hosts: [${name}], gateways: [g, n1/g], http: [{ ${match}route: [{ destination: { host: ${target} } }] }]${to} }`,
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(namespace, some('STRICT', 'DISABLE', 'PERMISSIVE'))
      .map(([where, mode]) =>
        resources('PeerAuthentication', where, 'p', `{ mtls: { mode: ${mode} } }`),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(namespace, some('ALLOW_ANY', 'REGISTRY_ONLY'))
      .map(([where, mode]) =>
        resources('Sidecar', where, 'sc', `{ outboundTrafficPolicy: { mode: ${mode} } }`),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        namespace,
        some('', 'workloadSelector: { labels: { app: other } }, '),
        fc.uniqueArray(some(...named), { minLength: 1, maxLength: 3 }),
        some(...blocks),
      )
      .map(([where, selector, hostPatterns, block]) =>
        resources(
          'Sidecar',
          where,
          'se',
          `{ ${selector}egress: [${block}{ hosts: [${hostPatterns.map((hostPattern) => `'${hostPattern}'`).join(', ')}] }] }`,
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(namespace, some('{}', '{ selector: { matchLabels: { app: other } } }'))
      .map(([where, spec]) => resources('AuthorizationPolicy', where, 'ap', spec)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        some('n1', 'n2'),
        some('w', 'x'),
        some('10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.7'),
        some('', 'r1/z1', 'r2/z2'),
        some(90, 91),
      )
      .map(([where, name, address, locality, port]) =>
        resources(
          'WorkloadEntry',
          where,
          name,
          `{ address: ${address}, ports: { http: ${port} }, labels: { app: other }, locality: '${locality}', serviceAccount: w }`,
        ),
      ),
  },
);

const chosen =
  'location: MESH_INTERNAL, workloadSelector: { labels: { app: other } }, ports: [{ number: 84, name: http, protocol: HTTP }, { number: 85, name: tcp, protocol: TCP }]';
/** A service for each host, so that most rules count, and two whose endpoints are workloads. */
const first = [
  ...['a.mesh', 'b.n1.svc.cluster.local', 'c.n2.svc.cluster.local'].flatMap((name, index) =>
    resources(
      'ServiceEntry',
      `n${index + 1}`,
      `s-${name}`,
      `{ hosts: [${name}], location: MESH_INTERNAL, ports: [${portsOf[2] ?? ''}, ${portsOf[1] ?? ''}], resolution: STATIC, endpoints: [${endpoints.join(', ')}] }`,
    ),
  ),
  ...resources('ServiceEntry', 'n1', 'w', `{ hosts: [w.mesh], resolution: STATIC, ${chosen} }`),
  ...resources('ServiceEntry', 'n2', 'x', `{ hosts: [x.mesh], resolution: NONE, ${chosen} }`),
];

/** Returns the same resources as new objects, from which nothing has been generated yet. */
function anew(store: Store): Store {
  const upserts = [...eachResource(store.resources)].map(([, resource]) =>
    structuredClone(resource),
  );
  return reduceStore(emptyStore(['files']), {
    type: 'changed',
    source: 'files',
    upserts,
    removes: [],
  })[0];
}

const content = ({ version, resources: resourcesByName }: TypedView) => ({
  version,
  // The version of a resource is a hash of its bytes.
  resources: [...resourcesByName.values()].map(({ name, version: resourceVersion, keys }) => ({
    name,
    resourceVersion,
    keys,
  })),
});

it('is what each proxy would be given if it were alone, whatever was before', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(change, some(false, false, false, true)), { minLength: 1, maxLength: 6 }),
      (steps) => {
        const { enter } = viewer(() => undefined);
        let store = emptyStore(['files']);
        let environment = buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached');
        for (const [number, [upserts, isRemoved]] of (
          [[first, false], ...steps] as const
        ).entries()) {
          const update = isRemoved
            ? { upserts: [], removes: upserts.map(keyOf) }
            : { upserts, removes: [] };
          const [next, changes] = reduceStore(store, {
            type: 'changed',
            source: 'files',
            ...update,
          });
          store = next;
          environment = buildEnvironment(environment, store, changes, 'cluster.local', 'reached');
          for (const node of nodes) {
            const [view] = enter({ number, environment }, node);
            const alone = buildEnvironment(
              undefined,
              anew(store),
              noChanges,
              'cluster.local',
              'reached',
            );
            const freshView = viewer(() => undefined).view({ number, environment: alone }, node);
            for (const type of xdsTypes) {
              const [given, expected] = [view[type], freshView[type]].map(content);
              // Most are equal, and a deep comparison takes ten times as long.
              if (JSON.stringify(given) !== JSON.stringify(expected))
                expect({ type, given }).toEqual({ type, given: expected });
            }
          }
        }
      },
    ),
    { numRuns: 10 },
  );
});

it('tells which destination of a VirtualService has which hash', () => {
  const hash = 'trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: x } } }';
  const service = (name: string) =>
    resources(
      'ServiceEntry',
      'n1',
      name,
      `{ hosts: [${name}.mesh], resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }] }`,
    );
  const upserts = [
    ...service('a'),
    ...service('b'),
    ...resources(
      'VirtualService',
      'n1',
      'v',
      '{ hosts: [a.mesh], http: [{ match: [{ uri: { prefix: /a } }], route: [{ destination: { host: a.mesh } }] }, { route: [{ destination: { host: b.mesh } }] }] }',
    ),
    ...resources('DestinationRule', 'n1', 'all', `{ host: '*.mesh', ${hash} }`),
    ...resources('DestinationRule', 'x', 'a', '{ host: a.mesh }'),
    ...resources('DestinationRule', 'y', 'b', '{ host: b.mesh }'),
  ];
  const versions = (order: readonly string[]) => {
    const [store] = reduceStore(emptyStore(['files']), {
      type: 'changed',
      source: 'files',
      upserts,
      removes: [],
    });
    const environment = buildEnvironment(
      undefined,
      anew(store),
      noChanges,
      'cluster.local',
      'reached',
    );
    const versionIn = (where: string) =>
      routesOf(environment, proxyAt({ namespace: where })).find(({ name }) => name === '80')
        ?.version;
    return Object.fromEntries(order.map((where) => [where, versionIn(where)]));
  };
  expect(versions(['x', 'y'])).toEqual(versions(['y', 'x']));
  expect(versions(['x', 'y'])['x']).not.toBe(versions(['x', 'y'])['y']);
});
