import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../../../src/pilot-discovery/environment/environment.ts';
import { viewer } from '../../../../../src/pilot-discovery/generate/view-of.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ClusterLoadAssignmentSchema } from '../../../../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import {
  clustersOf,
  endpointsOf,
  environmentOf,
  proxyAt,
  saidBy,
} from '../../../../support/generated.ts';

const textOfKind = (kind: string) => (name: string, spec: string) => `
apiVersion: networking.istio.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: default }
spec: ${spec}
---
`;
const entry = textOfKind('ServiceEntry');
const workload = textOfKind('WorkloadEntry');
const ports = 'ports: [{ number: 80, name: http, protocol: HTTP }]';
const reviews = entry(
  'reviews',
  `{ hosts: [reviews.test], location: MESH_INTERNAL, resolution: STATIC, ${ports}, endpoints: [
    { address: 10.0.0.2, labels: { version: v1, security.istio.io/tlsMode: istio } },
    { address: 10.0.0.3, labels: { version: v2 }, weight: 3, locality: r/z/s } ] }`,
);
const subsets = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: reviews, namespace: default }
spec:
  host: reviews.test
  trafficPolicy: { connectionPool: { tcp: { maxConnections: 7 } }, loadBalancer: { simple: RANDOM } }
  subsets:
    - { name: v1, labels: { version: v1 } }
    - { name: v2, labels: { version: v2 }, trafficPolicy: { loadBalancer: { simple: ROUND_ROBIN } } }
---
`;

describe('clustersOf', () => {
  it('has a cluster for each port of a service and each subset, and those that always are', () => {
    const names = clustersOf(environmentOf(reviews + subsets), proxyAt()).map(({ name }) => name);
    expect(names.sort()).toEqual([
      'BlackHoleCluster',
      'InboundPassthroughCluster',
      'PassthroughCluster',
      'outbound|80|v1|reviews.test',
      'outbound|80|v2|reviews.test',
      'outbound|80||reviews.test',
    ]);
  });

  it('has endpoints told for static ones, and asks DNS for names', () => {
    const external = entry(
      'ext',
      `{ hosts: [ext.test], location: MESH_EXTERNAL, resolution: DNS, ${ports} }`,
    );
    const clusters = clustersOf(environmentOf(reviews + external), proxyAt());
    const name = 'outbound|80||reviews.test';
    expect(saidBy(ClusterSchema, clusters, name)).toMatchObject({
      type: 'EDS',
      eds_cluster_config: { service_name: name },
    });
    const resolved = saidBy(ClusterSchema, clusters, 'outbound|80||ext.test');
    expect(resolved).toMatchObject({
      type: 'STRICT_DNS',
      load_assignment: { endpoints: [{ lb_endpoints: [{}] }] },
    });
    expect(JSON.stringify(resolved)).toContain('"address":"ext.test"');
  });

  it('has what a subset says instead of what all say, and the rest of all', () => {
    const clusters = clustersOf(environmentOf(reviews + subsets), proxyAt());
    expect(saidBy(ClusterSchema, clusters, 'outbound|80|v1|reviews.test')).toMatchObject({
      lb_policy: 'RANDOM',
    });
    const v2 = saidBy(ClusterSchema, clusters, 'outbound|80|v2|reviews.test');
    expect(v2?.['lb_policy']).toBeUndefined(); // ROUND_ROBIN is Envoy's default
    expect(v2).toMatchObject({ circuit_breakers: { thresholds: [{ max_connections: 7 }] } });
  });

  it('is the same, to the last byte, for the same resources in another order', () => {
    const [clusters, reordered] = [
      clustersOf(environmentOf(reviews + subsets), proxyAt()),
      clustersOf(environmentOf(subsets + reviews), proxyAt()),
    ];
    expect(reordered.map(({ name, version }) => [name, version])).toEqual(
      clusters.map(({ name, version }) => [name, version]),
    );
  });
});

describe('endpointsOf', () => {
  it('has the endpoints of a subset alone, by locality, each with whether it speaks mutual TLS', () => {
    const assignments = endpointsOf(environmentOf(reviews + subsets), proxyAt());
    const all = saidBy(ClusterLoadAssignmentSchema, assignments, 'outbound|80||reviews.test');
    expect(all?.['endpoints']).toHaveLength(2);
    const v1 = saidBy(ClusterLoadAssignmentSchema, assignments, 'outbound|80|v1|reviews.test');
    expect(v1).toMatchObject({
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: { address: { socket_address: { address: '10.0.0.2', port_value: 80 } } },
              metadata: {
                filter_metadata: { 'envoy.transport_socket_match': { tlsMode: 'istio' } },
              },
            },
          ],
        },
      ],
    });
    const v2 = JSON.stringify(
      saidBy(ClusterLoadAssignmentSchema, assignments, 'outbound|80|v2|reviews.test'),
    );
    expect(v2).toContain('10.0.0.3');
    expect(v2).toContain('"region":"r"');
    expect(v2).not.toContain('tlsMode');
  });

  it('has one endpoint of a service of DNS_ROUND_ROBIN, as Envoy wants it', () => {
    const yaml =
      workload('a', '{ address: a.test, labels: { app: rr } }') +
      workload('b', '{ address: b.test, labels: { app: rr } }') +
      entry(
        'rr',
        `{ hosts: [rr.test], resolution: DNS_ROUND_ROBIN, ${ports}, workloadSelector: { labels: { app: rr } } }`,
      );
    const cluster = saidBy(
      ClusterSchema,
      clustersOf(environmentOf(yaml), proxyAt()),
      'outbound|80||rr.test',
    );
    expect(cluster).toMatchObject({
      type: 'LOGICAL_DNS',
      load_assignment: { endpoints: [{ lb_endpoints: [{}] }] },
    });
  });

  it.each([
    [['10.0.0.1'], 'V4_ONLY'],
    [['fd00::1'], 'V6_ONLY'],
  ])('has the names of calls as the endpoints of DYNAMIC_DNS, at %s', (addresses, family) => {
    const yaml = entry('dd', `{ hosts: ['*.dd.test'], resolution: DYNAMIC_DNS, ${ports} }`);
    const cluster = saidBy(
      ClusterSchema,
      clustersOf(environmentOf(yaml), proxyAt({ addresses })),
      'outbound|80||*.dd.test',
    );
    expect(cluster).toMatchObject({
      cluster_type: {
        name: 'envoy.clusters.dynamic_forward_proxy',
        typed_config: { dns_cache_config: { name: 'dynamic_dns', dns_lookup_family: family } },
      },
      lb_policy: 'CLUSTER_PROVIDED',
    });
  });

  it.each([
    [['10.0.0.1'], '127.0.0.1'],
    [['10.0.0.1', 'fd00::1'], '::1'],
  ])('has [::1] of a Sidecar at the loopback that a proxy at %s has', (addresses, address) => {
    const yaml = `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: all, namespace: default }
spec: { ingress: [{ port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: '[::1]:8080' }] }
`;
    const cluster = saidBy(
      ClusterSchema,
      clustersOf(environmentOf(yaml), proxyAt({ addresses })),
      'inbound|9080||',
    );
    expect(JSON.stringify(cluster)).toContain(`"address":"${address}"`);
  });
});

describe('the view of a proxy', () => {
  const ownService = entry(
    'own',
    '{ hosts: [own.test], location: MESH_INTERNAL, resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 8080 }], endpoints: [{ address: 10.0.0.1, labels: { app: app } }] }',
  );
  const rule = (name: string, connections: number, more = '') =>
    textOfKind('DestinationRule')(
      name,
      `{ host: own.test, ${more} trafficPolicy: { connectionPool: { tcp: { maxConnections: ${connections} } } } }`,
    );

  /** Returns a cluster in the second of two views of a proxy. */
  function secondView(name: string, before: Environment, after: Environment) {
    const { view } = viewer(() => undefined);
    const [, second] = [before, after].map(
      (environment, number) => view({ number, environment }, proxyAt()).cluster,
    );
    return saidBy(ClusterSchema, [...(second?.resources.values() ?? [])], name);
  }

  it('has the new pool of an own port, also if another rule is for the calls of the proxy', () => {
    const calls = rule('calls', 5, 'workloadSelector: { matchLabels: { app: app } },');
    const before = environmentOf(ownService + calls + rule('all', 8));
    const after = { ...environmentOf(rule('all', 9), { before }), mesh: before.mesh };
    expect(secondView('inbound|8080||', before, after)).toMatchObject({
      circuit_breakers: { thresholds: [{ max_connections: 9 }] },
    });
  });

  it('has the new timeout of the mesh, also if its Sidecar names no service', () => {
    const before = environmentOf(textOfKind('Sidecar')('none', "{ egress: [{ hosts: ['~/*'] }] }"));
    const after = { ...before, mesh: { ...before.mesh, connectTimeoutMs: 3_000 } };
    expect(secondView('PassthroughCluster', before, after)).toMatchObject({
      connect_timeout: '3s',
    });
  });
});

describe('the endpoints of a service', () => {
  const endpoints = (yaml: string) =>
    saidBy(
      ClusterLoadAssignmentSchema,
      endpointsOf(environmentOf(yaml), proxyAt()),
      'outbound|80||e.test',
    );
  const addresses = (yaml: string) =>
    [...JSON.stringify(endpoints(yaml)).matchAll(/"address":"([^"]+)","port_value":(\d+)/g)].map(
      ([, address, port]) => `${address ?? ''}:${port ?? ''}`,
    );

  it('are of the entries of its host that are resolved as the oldest is', () => {
    const yaml =
      entry(
        'a',
        `{ hosts: [e.test], resolution: STATIC, ${ports}, endpoints: [{ address: 10.0.0.2 }] }`,
      ) + entry('b', `{ hosts: [e.test], resolution: DNS, ${ports} }`);
    expect(addresses(yaml)).toEqual(['10.0.0.2:80']);
  });

  it('have no names if Envoy looks none up', () => {
    const yaml =
      workload('a', '{ address: a.test, labels: { app: e } }') +
      workload('b', '{ address: 10.0.0.3, labels: { app: e } }') +
      entry(
        'e',
        `{ hosts: [e.test], resolution: STATIC, ${ports}, workloadSelector: { labels: { app: e } } }`,
      );
    expect(addresses(yaml)).toEqual(['10.0.0.3:80']);
  });

  it('have the port of the service, whatever its name is', () => {
    const named = 'ports: [{ number: 80, name: constructor, protocol: HTTP }]';
    expect(
      addresses(
        entry(
          'e',
          `{ hosts: [e.test], resolution: STATIC, ${named}, endpoints: [{ address: 10.0.0.2 }] }`,
        ),
      ),
    ).toEqual(['10.0.0.2:80']);
  });

  it('have weights whose sum Envoy takes, in proportion', () => {
    const [large, larger] = [1_000_000_000, 2_000_000_000];
    const all = [larger, larger, large].map(
      (weight, index) => `{ address: 10.0.0.${index + 1}, weight: ${weight} }`,
    );
    const json = JSON.stringify(
      endpoints(
        entry('e', `{ hosts: [e.test], resolution: STATIC, ${ports}, endpoints: [${all.join()}] }`),
      ),
    );
    const [first = 0, second = 0, third = 0, sum = 0] = [
      ...json.matchAll(/"load_balancing_weight":(\d+)/g),
    ].map(([, weight]) => Number(weight));
    expect([first, first / third]).toEqual([second, expect.closeTo(2, 5)]);
    expect(sum).toBe(first + second + third);
    expect(sum).toBeLessThan(2 ** 32);
  });
});
