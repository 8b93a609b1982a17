import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Environment } from '../../../../src/pilot-discovery/environment/environment.ts';
import { environmentOf } from '../../../support/generated.ts';
import { canonical } from '../../../support/golden.ts';

/** Prints the services with the endpoints of each port; leaves out empty fields and `ready`. */
function toldBy({ services, endpoints }: Environment): string {
  const shownServices = [...services.values()].flat().map((service) => {
    const { host, name, namespace, addresses, aliases, ports } = service;
    const { resolution, exportTo, subjectAltNames } = service;
    return {
      host,
      name: `${namespace}/${name}`,
      resolution,
      ...(addresses.length > 0 && { addresses }),
      ...(aliases.length > 0 && { aliases }),
      ...(exportTo.length > 0 && { exportTo }),
      ...(subjectAltNames.length > 0 && { subjectAltNames }),
      ports: Object.fromEntries(
        ports.map(({ number, protocol }) => [
          number,
          [
            protocol,
            ...(endpoints.get(`${namespace}/${host}`)?.get(number) ?? []).map(
              ({ address, port, readiness }) =>
                `${address}:${port}${readiness === 'ready' ? '' : `, ${readiness}`}`,
            ),
          ],
        ]),
      ),
    };
  });
  return stringify(shownServices, { sortMapEntries: true });
}

const leaving = ", deletionTimestamp: '2026-01-01T00:00:00Z'";
const pod = (name: string, fields: string, labels = 'app: web', metadata = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, namespace: shop, labels: { ${labels} }${metadata} }\n${fields}\n`;
const entry = (name: string, spec: string) =>
  `apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: { name: ${name}, namespace: shop }\nspec: ${spec}\n`;
const service = (spec: string, metadata = '{ name: web, namespace: shop }') =>
  `apiVersion: v1\nkind: Service\nmetadata: ${metadata}\nspec: ${spec}\n`;
const slice = (members: string, name = 'web-1', serviceName = 'web') =>
  `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: { name: ${name}, namespace: shop, labels: { kubernetes.io/service-name: ${serviceName} } }\naddressType: IPv4\n${members}\n`;
const endpoints = (subsets: string, labels = '') =>
  `apiVersion: v1\nkind: Endpoints\nmetadata: { name: web, namespace: shop${labels} }\nsubsets: ${subsets}\n`;
const web = 'host: web.shop.svc.cluster.local, name: shop/web, resolution: static';

describe('services of Kubernetes', () => {
  it.each<[what: string, objects: readonly string[], services: string]>([
    [
      'a Service and its EndpointSlice, joined by the names of ports',
      [
        service(
          '{ clusterIP: 10.96.0.1, ports: [{ name: http, port: 80, targetPort: 8080 }, { name: admin, port: 81 }] }',
        ),
        slice(
          'ports: [{ name: admin, port: 9001 }, { name: http, port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }, { addresses: [10.0.0.2] }]',
        ),
      ],
      `[{ ${web}, addresses: [10.96.0.1], ports: {
        80: [http, '10.0.0.1:8080', '10.0.0.2:8080'], 81: [auto, '10.0.0.1:9001', '10.0.0.2:9001'] } }]`,
    ],
    [
      'the only port, without a name',
      [
        service('{ ports: [{ port: 80 }] }'),
        slice('ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:8080'] } }]`,
    ],
    [
      'several EndpointSlices, an endpoint in two of them',
      [
        service('{ ports: [{ port: 80 }] }'),
        slice('ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
        slice(
          'ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }, { addresses: [10.0.0.3] }]',
          'web-2',
        ),
        slice(
          'ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.9] }]',
          'other-1',
          'other',
        ),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:8080', '10.0.0.3:8080'] } }]`,
    ],
    [
      'an address with a port in each EndpointSlice, as several programs on one machine have it',
      [
        service('{ ports: [{ port: 80 }] }'),
        slice('ports: [{ port: 8080 }]\nendpoints: [{ addresses: [127.0.0.1] }]'),
        slice('ports: [{ port: 8081 }]\nendpoints: [{ addresses: [127.0.0.1] }]', 'web-2'),
      ],
      `[{ ${web}, ports: { 80: [auto, '127.0.0.1:8080', '127.0.0.1:8081'] } }]`,
    ],
    [
      'endpoints that are not ready, which the service has all the same',
      [
        service('{ ports: [{ port: 80 }] }'),
        slice(
          'ports: [{ port: 80 }]\nendpoints: [{ addresses: [10.0.0.1], conditions: { ready: false, serving: true, terminating: true } }, { addresses: [10.0.0.2], conditions: { ready: true } }, { addresses: [10.0.0.3], conditions: {} }]',
        ),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:80, not-ready', '10.0.0.2:80', '10.0.0.3:80'] } }]`,
    ],
    [
      'endpoints that are called before they are ready',
      [
        service('{ publishNotReadyAddresses: true, ports: [{ port: 80 }] }'),
        slice(
          'ports: [{ port: 80 }]\nendpoints: [{ addresses: [10.0.0.1], conditions: { ready: false } }]',
        ),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:80'] } }]`,
    ],
    [
      'ports of UDP, which are not served, beside one of TCP with the number',
      [
        service(
          '{ ports: [{ name: dns, port: 53, protocol: UDP }, { name: dns-tcp, port: 53, protocol: TCP }] }',
        ),
        slice(
          'ports: [{ name: dns, port: 5353, protocol: UDP }, { name: dns-tcp, port: 5300 }]\nendpoints: [{ addresses: [10.0.0.1] }]',
        ),
      ],
      `[{ ${web}, ports: { 53: [tcp, '10.0.0.1:5300'] } }]`,
    ],
    [
      'addresses of two families, in one spelling',
      [
        service(
          "{ clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1, 'FD00:0::1'], ports: [{ port: 80 }] }",
        ),
      ],
      `[{ ${web}, addresses: [10.96.0.1, 'fd00::1'], ports: { 80: [auto] } }]`,
    ],
    [
      'a headless Service, called at the address that a caller has looked up',
      [
        service('{ clusterIP: None, ports: [{ name: tcp, port: 80 }] }'),
        slice('ports: [{ name: tcp, port: 80 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
      ],
      `[{ host: web.shop.svc.cluster.local, name: shop/web, resolution: none, ports: { 80: [tcp, '10.0.0.1:80'] } }]`,
    ],
    [
      'annotations of Istio',
      [
        service(
          '{ ports: [{ port: 80 }] }',
          "{ name: web, namespace: shop, annotations: { networking.istio.io/exportTo: '., b', alpha.istio.io/canonical-serviceaccounts: 'spiffe://a/b, spiffe://c' } }",
        ),
      ],
      `[{ ${web}, exportTo: [shop, b], subjectAltNames: [spiffe://a/b, spiffe://c], ports: { 80: [auto] } }]`,
    ],
    [
      'Pods that it selects, at ports by number and by name, if nobody has written EndpointSlices',
      [
        service(
          '{ selector: { app: web }, ports: [{ name: http, port: 80, targetPort: web }, { name: admin, port: 81, targetPort: 9001 }] }',
        ),
        pod(
          'a',
          'spec: { containers: [{ ports: [{ name: web, containerPort: 8080 }] }] }\nstatus: { podIP: 10.0.0.1 }',
        ),
        pod(
          'b',
          'spec: { containers: [{ ports: [{ name: web, containerPort: 8081, protocol: UDP }] }] }\nstatus: { podIP: 10.0.0.2, conditions: [{ type: Ready, status: "False" }] }',
        ),
        pod('c', 'status: { podIP: 10.0.0.3, phase: Succeeded }'),
        pod('d', 'status: { podIP: 10.0.0.4 }', 'app: other'),
        pod('e', 'spec: {}'),
        pod('f', 'status: { podIP: 10.0.0.6 }', 'app: web', leaving),
      ],
      `[{ ${web}, ports: { 80: [http, '10.0.0.1:8080'], 81: [auto, '10.0.0.1:9001', '10.0.0.2:9001, not-ready', '10.0.0.6:9001, not-ready'] } }]`,
    ],
    [
      'no Pods but those of its EndpointSlices, each when the Pod is there',
      [
        service('{ selector: { app: web }, ports: [{ port: 80 }] }'),
        slice(
          'ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1], targetRef: { kind: Pod, name: a } }, { addresses: [10.0.0.2], targetRef: { kind: Pod, name: gone } }, { addresses: [10.0.0.3], targetRef: { kind: Node, name: n } }]',
        ),
        pod('a', 'status: { podIP: 10.0.0.1 }'),
        pod('b', 'status: { podIP: 10.0.0.4 }'),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:8080', '10.0.0.3:8080'] } }]`,
    ],
    [
      'Endpoints in several subsets, if nobody has written EndpointSlices',
      [
        service(
          '{ selector: { app: web }, ports: [{ name: http, port: 80 }, { name: b, port: 81 }] }',
        ),
        endpoints(
          '[{ addresses: [{ ip: 10.0.0.1, targetRef: { kind: Pod, name: a } }, { ip: 10.0.0.5, targetRef: { kind: Pod, name: gone } }], notReadyAddresses: [{ ip: "FD00::0:1" }], ports: [{ name: http, port: 8080 }, { name: b, port: 8081 }] }, { addresses: [{ ip: 10.0.0.3 }], ports: [{ name: http, port: 9080 }] }]',
        ),
        pod('a', 'status: { podIP: 10.0.0.1 }'),
        pod('b', 'status: { podIP: 10.0.0.4 }'),
      ],
      `[{ ${web}, ports: { 80: [http, '10.0.0.1:8080', 'fd00::1:8080, not-ready', '10.0.0.3:9080'], 81: [auto, '10.0.0.1:8081', 'fd00::1:8081, not-ready'] } }]`,
    ],
    [
      'no Endpoints beside EndpointSlices',
      [
        service('{ ports: [{ port: 80 }] }'),
        endpoints('[{ addresses: [{ ip: 10.0.0.9 }], ports: [{ port: 8080 }] }]'),
        slice('ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:8080'] } }]`,
    ],
    [
      'no Endpoints of which Kubernetes would make no EndpointSlices',
      [
        service('{ ports: [{ port: 80 }] }'),
        endpoints(
          '[{ addresses: [{ ip: 10.0.0.9 }], ports: [{ port: 8080 }] }]',
          ", labels: { endpointslice.kubernetes.io/skip-mirror: 'true' }",
        ),
      ],
      `[{ ${web}, ports: { 80: [auto] } }]`,
    ],
    [
      'WorkloadEntries that it selects, beside EndpointSlices',
      [
        service(
          '{ selector: { app: web }, ports: [{ name: http, port: 80, targetPort: 8080 }, { name: admin, port: 81, targetPort: adm }] }',
        ),
        slice('ports: [{ name: http, port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
        entry('m1', '{ address: 10.3.0.1, labels: { app: web } }'),
        entry('m2', '{ address: 10.3.0.2, labels: { app: web }, ports: { http: 9999, adm: 7 } }'),
        entry('m3', '{ address: m3.example.com, labels: { app: web } }'),
        entry('m4', '{ address: 10.3.0.4, labels: { app: other } }'),
      ],
      `[{ ${web}, ports: { 80: [http, '10.0.0.1:8080', '10.3.0.1:8080', '10.3.0.2:9999'], 81: [auto, '10.3.0.2:7'] } }]`,
    ],
    [
      'other names of a Service, one after the other; a circle has nothing',
      [
        service('{ ports: [{ port: 80 }] }'),
        service(
          '{ type: ExternalName, externalName: Web.shop.svc.cluster.local. }',
          '{ name: near, namespace: shop }',
        ),
        service(
          '{ type: ExternalName, externalName: near.shop.svc.cluster.local }',
          '{ name: far, namespace: other }',
        ),
        service(
          '{ type: ExternalName, externalName: circle.shop.svc.cluster.local }',
          '{ name: circle, namespace: shop }',
        ),
        service(
          '{ type: ExternalName, externalName: api.example.com }',
          '{ name: outside, namespace: shop }',
        ),
      ],
      `[{ ${web}, aliases: [far.other.svc.cluster.local, near.shop.svc.cluster.local], ports: { 80: [auto] } }]`,
    ],
    [
      'a Service comes before a ServiceEntry with its host, and is served at the endpoints of both',
      [
        'apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: web, namespace: shop, creationTimestamp: "2001-01-01T00:00:00Z" }\nspec: { hosts: [web.shop.svc.cluster.local], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.9 }] }\n',
        service(
          '{ ports: [{ port: 80 }] }',
          '{ name: web, namespace: shop, creationTimestamp: "2024-01-01T00:00:00Z" }',
        ),
        slice('ports: [{ port: 80 }]\nendpoints: [{ addresses: [10.0.0.1] }]'),
      ],
      `[{ ${web}, ports: { 80: [auto, '10.0.0.1:80', '10.0.0.9:80'] } },
        { host: web.shop.svc.cluster.local, name: shop/web.shop.svc.cluster.local, resolution: static, ports: { 80: [http, '10.0.0.1:80', '10.0.0.9:80'] } }]`,
    ],
  ])('%s', (_, objects, services) => {
    expect(toldBy(environmentOf(objects.join('---\n')))).toBe(canonical(services));
    expect(toldBy(environmentOf(objects.toReversed().join('---\n')))).toBe(canonical(services));
  });

  it.each([
    ['http', 80, '', 'http'],
    ['http-web', 80, '', 'http'],
    ['HTTP2-a', 80, '', 'http2'],
    ['grpc', 80, '', 'grpc'],
    ['grpc-web-a', 80, '', 'grpc-web'],
    ['https-a', 443, '', 'https'],
    ['tls', 443, '', 'tls'],
    ['mongo', 27_017, '', 'mongo'],
    ['web', 80, '', 'auto'],
    ['web', 3_306, '', 'tcp'],
    ['constructor', 80, '', 'auto'],
    ['tcp', 80, 'http', 'http'],
    ['http', 80, 'kubernetes.io/h2c', 'http2'],
    ['web', 80, 'kubernetes.io/ws', 'http'],
    ['web', 80, 'kubernetes.io/wss', 'https'],
    ['http', 80, 'example.com/own', 'auto'],
  ])('a port %s of number %i with the appProtocol "%s" speaks %s', (name, port, app, protocol) => {
    const appProtocol = app === '' ? '' : `, appProtocol: ${app}`;
    const { services } = environmentOf(
      service(`{ ports: [{ name: ${name.toLowerCase()}, port: ${port}${appProtocol} }] }`),
    );
    expect([...services.values()].flat().flatMap(({ ports }) => ports)).toMatchObject([
      { protocol },
    ]);
  });

  it('a Pod tells what its endpoint is: labels, account, place, workload', () => {
    const { endpoints } = environmentOf(
      [
        service('{ ports: [{ port: 80 }] }'),
        slice(
          'ports: [{ port: 8080 }]\nendpoints: [{ addresses: [10.0.0.1], targetRef: { kind: Pod, name: web-abc-x } }]',
        ),
        `apiVersion: v1
kind: Pod
metadata:
  name: web-abc-x
  generateName: web-abc-
  namespace: shop
  labels: { app: web, pod-template-hash: abc, istio-locality: r.z, security.istio.io/tlsMode: istio, topology.istio.io/network: n }
  ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: web-abc, uid: u, controller: true }]
spec: { serviceAccountName: web, nodeName: n1, restartPolicy: Always }
status: { podIP: 10.0.0.1, qosClass: Burstable }
`,
      ].join('---\n'),
    );
    expect(
      stringify(endpoints.get('shop/web.shop.svc.cluster.local')?.get(80), {
        sortMapEntries: true,
      }),
    ).toBe(
      canonical(`
- address: 10.0.0.1
  port: 8080
  labels:
    app: web
    istio-locality: r.z
    kubernetes.io/hostname: n1
    pod-template-hash: abc
    security.istio.io/tlsMode: istio
    topology.istio.io/cluster: Kubernetes
    topology.istio.io/network: n
    topology.kubernetes.io/region: r
    topology.kubernetes.io/zone: z
  network: n
  locality: r/z
  weight: 0
  identity: spiffe://cluster.local/ns/shop/sa/web
  tlsMode: istio
  readiness: ready
  namespace: shop
  workloadName: web
  key: EndpointSlice/shop/web-1`),
    );
  });

  it.each([
    ['a', '', undefined, 'a'],
    ['a-x', 'a-', undefined, 'a-x'],
    ['a-1-x', 'a-1-', 'StatefulSet, name: a-1', 'a-1'],
    ['a-5f-x', 'a-5f-', 'ReplicaSet, name: a-5f', 'a'],
    ['a-5g-x', 'a-5g-', 'ReplicaSet, name: a-5g', 'a-5g'],
    ['a-29000000-x', 'a-29000000-', 'Job, name: a-29000000', 'a'],
  ])(
    'the workload of the Pod %s, made of "%s" and owned by %s, is %s',
    (name, from, by, workload) => {
      const owner =
        by === undefined ? '' : `, ownerReferences: [{ kind: ${by}, controller: true }]`;
      const generateName = from === '' ? '' : `, generateName: ${from}`;
      const { resources } = environmentOf(
        `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, labels: { pod-template-hash: 5f }${generateName}${owner} }\n`,
      );
      expect(resources.get('Pod')?.get('default')?.get(name)?.spec).toMatchObject({
        workloadName: workload,
      });
    },
  );

  it('a changed EndpointSlice changes the endpoints of its service, and nothing else', () => {
    const others = Array.from({ length: 20 }, (_, index) => {
      const name = `{ name: s${index}, namespace: shop }`;
      const endpoints = `ports: [{ port: 80 }]\nendpoints: [{ addresses: [10.0.1.${index}] }]`;
      return [
        service('{ ports: [{ port: 80 }] }', name),
        slice(endpoints, `s${index}-1`, `s${index}`),
      ];
    }).flat();
    const with_ = (address: string) =>
      [
        ...others,
        service('{ ports: [{ port: 80 }] }'),
        slice(`ports: [{ port: 80 }]\nendpoints: [{ addresses: [${address}] }]`),
      ].join('---\n');
    const before = environmentOf(with_('10.0.0.1'));
    const after = environmentOf(with_('10.0.0.2'), { before });
    expect(after.services).toBe(before.services);
    const changed = [...after.endpoints].filter(
      ([key, byPort]) => before.endpoints.get(key) !== byPort,
    );
    expect(changed.map(([key]) => key)).toEqual(['shop/web.shop.svc.cluster.local']);
  });

  it('Endpoints that change, and a Pod of theirs that comes, change the endpoints', () => {
    const withService = (...objects: readonly string[]) =>
      [service('{ ports: [{ port: 80 }] }'), ...objects].join('---\n');
    const endpointsAt = (address: string) =>
      endpoints(
        `[{ addresses: [{ ip: ${address}, targetRef: { kind: Pod, name: a } }], ports: [{ port: 80 }] }]`,
      );
    const targetPod = pod('a', 'status: { podIP: 10.0.0.1 }');
    let before = environmentOf(withService());
    const texts = [
      withService(endpointsAt('10.0.0.1')),
      withService(endpointsAt('10.0.0.1'), targetPod),
      withService(endpointsAt('10.0.0.2'), targetPod),
    ];
    const addresses = [...texts, withService(endpoints('[]'), targetPod)].map((text) => {
      before = environmentOf(text, { before });
      const all = before.endpoints.get('shop/web.shop.svc.cluster.local')?.get(80) ?? [];
      return all.map(({ address, key }) => `${address} of ${key}`);
    });
    expect(addresses).toEqual([
      [],
      ['10.0.0.1 of Endpoints/shop/web'],
      ['10.0.0.2 of Endpoints/shop/web'],
      [],
    ]);
  });

  it('an alias that comes and goes changes the names of its host, and nothing else', () => {
    const others = [
      service('{ ports: [{ port: 80 }] }'),
      service('{ ports: [{ port: 80 }] }', '{ name: b }'),
    ];
    const alias = service(
      '{ type: ExternalName, externalName: web.shop.svc.cluster.local }',
      '{ name: c }',
    );
    const before = environmentOf(others.join('---\n'));
    const after = environmentOf([...others, alias].join('---\n'), { before });
    const [b, web] = ['b.default', 'web.shop'].map((name) => `${name}.svc.cluster.local`);
    expect(after.services.get(b ?? '')).toBe(before.services.get(b ?? ''));
    expect(after.services.get(web ?? '')).toMatchObject([
      { aliases: ['c.default.svc.cluster.local'] },
    ]);
    expect(after.endpoints).toBe(before.endpoints);
  });
});
