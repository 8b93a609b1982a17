import { fromBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { messageJson } from '../../../../../src/pilot-discovery/generate/config-dump.ts';
import type { ProxyNode } from '../../../../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { routesOf } from '../../../../../src/pilot-discovery/generate/routes/routes.ts';
import { virtualHosts } from '../../../../../src/pilot-discovery/generate/routes/virtual-hosts.ts';
import { rulesOfHosts } from '../../../../../src/pilot-discovery/generate/routes/rules-of-hosts.ts';
import { outboundScope } from '../../../../../src/pilot-discovery/generate/scope/outbound-scope.ts';
import { VirtualHostSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { shortNames } from '../../../../../src/pilot-discovery/generate/routes/virtual-host-domains.ts';
import type { MeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { typeUrls } from '../../../../../src/pilot-discovery/push/view.ts';
import { published } from '../../../../support/envoy-api.ts';
import { canonical, replacing } from '../../../../support/golden.ts';
import { environmentOf, proxyAt } from '../../../../support/generated.ts';

interface Told {
  readonly virtual_hosts: readonly {
    readonly name: string;
    readonly domains: readonly string[];
    readonly routes: readonly object[];
  }[];
}

/**
 * Returns the virtual hosts of a route configuration, each with its domains and the destinations of
 * its routes.
 */
function hosts(
  yaml: string,
  name = '80',
  node: Partial<ProxyNode> = {},
  mesh: Partial<MeshConfig> = {},
) {
  const routeResource = routesOf(environmentOf(yaml, { mesh }), proxyAt(node)).find(
    (resource) => resource.name === name,
  );
  const configuration = published(typeUrls.route, routeResource?.body ?? Buffer.of()) as Told;
  return Object.fromEntries(
    configuration.virtual_hosts.map(({ name: host, domains, routes }) => {
      const clusters = [...JSON.stringify(routes).matchAll(/"cluster":"([^"]*)"|"status":(\d+)/g)];
      return [
        host,
        [domains.join(' '), clusters.map(([, cluster, status]) => cluster ?? status).join(' ')],
      ];
    }),
  );
}

const service = (name: string, more = '') => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name.replaceAll('.', '-').replaceAll('*', 'all')} }
spec: { hosts: ["${name}"], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.9 }] ${more} }
---`;
const rule = (name: string, host: string, http: string, more = '') => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ${name}, creationTimestamp: "2020-01-01T00:00:0${name.length}Z" }
spec: { hosts: ["${host}"], http: ${http} ${more} }
---`;
const toB = 'route: [{ destination: { host: b.mesh } }]';

describe('a VirtualService none of whose matches concerns the caller', () => {
  const others = [
    'sourceLabels: { app: other }',
    'sourceNamespace: other',
    'port: 81',
    'gateways: [gateway]',
  ];

  it.each(others)('leaves the service its default route: %s', (match) => {
    const yaml =
      service('a.mesh') +
      service('b.mesh') +
      rule('r', 'a.mesh', `[{ match: [{ ${match} }], ${toB} }]`);
    for (const outboundTrafficPolicy of ['allow-any', 'registry-only'] as const)
      expect(hosts(yaml, '80', {}, { outboundTrafficPolicy })).toMatchObject({
        'a.mesh:80': ['a.mesh', 'outbound|80||a.mesh'],
      });
  });

  it.each(others)('leaves it to the next VirtualService of the host: %s', (match) => {
    const both =
      rule('r', 'a.mesh', `[{ match: [{ ${match} }], ${toB} }]`) +
      rule('younger', 'a.mesh', `[{ ${toB} }]`);
    expect(hosts(service('a.mesh') + service('b.mesh') + both)).toMatchObject({
      'a.mesh:80': ['a.mesh', 'outbound|80||b.mesh'],
    });
  });

  it('leaves a service of a wildcard its route, and a host without a service none', () => {
    const wide = rule('r', '*.mesh', `[{ match: [{ port: 81 }], ${toB} }]`);
    const nobody = rule('s', 'nobody.org', `[{ match: [{ port: 81 }], ${toB} }]`);
    const servedHosts = hosts(service('a.mesh') + wide + nobody);
    expect(Object.keys(servedHosts)).toEqual(['a.mesh:80', 'allow_any']);
    expect(servedHosts['a.mesh:80']?.[1]).toBe('outbound|80||a.mesh');
  });

  it('is not left: a caller that one match concerns has its routes, and no other', () => {
    const virtualService = rule(
      'r',
      'a.mesh',
      `[{ match: [{ sourceLabels: { app: other } }, { sourceLabels: { app: app }, uri: { exact: /x } }], ${toB} }]`,
    );
    expect(hosts(service('a.mesh') + service('b.mesh') + virtualService)['a.mesh:80']?.[1]).toBe(
      'outbound|80||b.mesh',
    );
  });
});

describe('a listener for all ports of its services', () => {
  const sidecar = (port: string, more = '') => `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: s }
spec: { egress: [{ port: ${port}, hosts: ['*/*'] }] ${more} }
---`;
  const twoPorts = service('a.default.svc.cluster.local').replace(
    'ports: [',
    'ports: [{ number: 8080, name: alt }, { number: 90, name: tcp, protocol: TCP }, ',
  );

  it('has the names of each port, and those without a port at port 80', () => {
    const yaml = twoPorts + sidecar('{ number: 3128, protocol: HTTP_PROXY }');
    expect(hosts(yaml, '3128')).toEqual({
      'a.default.svc.cluster.local:80': [
        'a.default.svc.cluster.local a a.default.svc a.default a.default.svc.cluster.local:80 a:80 a.default.svc:80 a.default:80',
        'outbound|80||a.default.svc.cluster.local',
      ],
      'a.default.svc.cluster.local:8080': [
        'a.default.svc.cluster.local:8080 a:8080 a.default.svc:8080 a.default:8080',
        'outbound|8080||a.default.svc.cluster.local',
      ],
      allow_any: ['*', 'PassthroughCluster'],
    });
  });

  it('compares the ports of requests, since they choose the port of the service', () => {
    const yaml = service('a.mesh') + sidecar('{ number: 3128, protocol: HTTP_PROXY }');
    const [routes] = routesOf(environmentOf(yaml), proxyAt());
    expect(published(typeUrls.route, routes?.body ?? Buffer.of())).not.toHaveProperty(
      'ignore_port_in_host_matching',
    );
  });

  it('has rules of hosts without a service at port 80, and the port of a request as destination', () => {
    const yaml =
      service('a.mesh') +
      service('b.mesh') +
      rule('r', 'nobody.org', `[{ ${toB} }]`) +
      rule('of-a', 'a.mesh', `[{ match: [{ port: 81 }], directResponse: { status: 404 } }]`) +
      sidecar("{ number: 0, protocol: HTTP }, bind: 'unix:///run/a'");
    expect(hosts(yaml, 'unix:///run/a')).toEqual({
      'a.mesh:80': ['a.mesh a.mesh:80', 'outbound|80||a.mesh'],
      'b.mesh:80': ['b.mesh b.mesh:80', 'outbound|80||b.mesh'],
      'nobody.org:80': ['nobody.org nobody.org:80', 'outbound|80||b.mesh'],
      allow_any: ['*', 'PassthroughCluster'],
    });
  });

  it('leads hosts that no resource names to the proxy that a Sidecar names', () => {
    const yaml =
      service('a.mesh') +
      sidecar(
        '{ number: 80, protocol: HTTP }',
        ', outboundTrafficPolicy: { mode: ALLOW_ANY, egressProxy: { host: proxy.mesh, port: { number: 3128 } } }',
      );
    expect(hosts(yaml)['allow_any']).toEqual(['*', 'outbound|3128||proxy.mesh']);
  });
});

describe('short names of a host', () => {
  const near = 'default.svc.cluster.local';
  it.each<[host: string, domain: string, names: readonly string[]]>([
    ['x.default.svc.cluster.local', near, ['x', 'x.default.svc', 'x.default']],
    ['x.ns.svc.cluster.local', near, ['x.ns', 'x.ns.svc']],
    ['x.ns.svc.other.domain', near, []],
    ['x.default.svc.other.domain', near, []],
    ['x.default.svc.cluster.local.org', near, []],
    ['x.default.svc.other.domain', 'default.svc.other.domain', ['x', 'x.default.svc', 'x.default']],
    ['x.default.svc.cluster.local', 'default.svc.other.domain', []],
    ['*.default.svc.cluster.local', near, ['*.default.svc', '*.default']],
    ['x.default.svc', near, []],
    ['x.com', near, []],
    ['x.my.domain', 'my.domain', ['x']],
    ['x.ns.my.domain', 'my.domain', ['x.ns', 'x.ns.my']],
    ['my.domain', 'my.domain', []],
    ['x.com', 'my.domain', []],
    ['x.com', '', []],
  ])('%s for a proxy of %s: %j', (host, domain, names) => {
    expect(shortNames(host, domain)).toEqual(names);
  });

  it('never are those of the service that is really called so', () => {
    const local = 'x.default.svc.cluster.local';
    const servedHosts = hosts(service('x.default.svc.other.domain') + service(local));
    expect(servedHosts[`${local}:80`]?.[0]).toBe(`${local} x x.default.svc x.default`);
    expect(servedHosts['x.default.svc.other.domain:80']?.[0]).toBe('x.default.svc.other.domain');
  });
});

describe('a host of two entries', () => {
  it('has the address of the last entry that has the port', () => {
    const entryOf = (name: string, address: string, port: number) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name} }
spec: { hosts: [a.mesh], addresses: [${address}], ports: [{ number: ${port}, name: http, protocol: HTTP }], resolution: STATIC }
---`;
    const yaml =
      entryOf('one', '240.0.0.1', 80) +
      entryOf('three', '240.0.0.3', 82) +
      entryOf('two', '240.0.0.2', 80);
    expect(hosts(yaml)['a.mesh:80']?.[0]).toBe('a.mesh 240.0.0.2');
    expect(hosts(yaml, '82')['a.mesh:82']?.[0]).toBe('a.mesh 240.0.0.3');
  });
});

describe('the virtual hosts of a port', () => {
  const localhost = 'x.default.svc.cluster.local';
  const address = ', addresses: [240.0.0.1]';
  const virtualHost = (name: string, domains: string, routes: string) => `
- name: ${name}
  domains: ${domains}
  include_request_attempt_count: true
  routes: ${routes}`;
  const services = service('a.mesh', address) + service('b.mesh') + service(localhost);
  const younger = rule('younger', 'a.mesh', '[{ redirect: { uri: /younger } }]');

  it.each<[what: string, yaml: string, port: number, expectedHosts: string]>([
    [
      'are those of services, by name, with their short names and addresses',
      services,
      80,
      virtualHost('a.mesh:80', '[a.mesh, 240.0.0.1]', '[default]') +
        virtualHost('b.mesh:80', '[b.mesh]', '[default]') +
        virtualHost(`${localhost}:80`, `[${localhost}, x, x.default.svc, x.default]`, '[default]'),
    ],
    [
      'have the routes of the oldest rule',
      `${services}${rule('r', 'a.mesh', `[{ name: ruled, ${toB} }]`)}${younger}`,
      80,
      virtualHost('a.mesh:80', '[a.mesh, 240.0.0.1]', '[ruled]') +
        virtualHost('b.mesh:80', '[b.mesh]', '[default]') +
        virtualHost(`${localhost}:80`, `[${localhost}, x, x.default.svc, x.default]`, '[default]'),
    ],
    [
      'are those of rules without a service too, at port 80',
      rule('r', 'nobody.org', `[{ name: ruled, ${toB} }]`),
      80,
      virtualHost('nobody.org:80', '[nobody.org]', '[ruled]'),
    ],
    [
      'are none of rules without a service at other ports',
      rule('r', 'nobody.org', `[{ name: ruled, ${toB} }]`),
      81,
      '[]',
    ],
  ])('%s', (_, yaml, port, expectedHosts) => {
    const environment = environmentOf(yaml);
    const node = proxyAt();
    const scope = outboundScope(environment, node);
    const rulesOf = rulesOfHosts(environment, node, scope.services);
    const hostResources = scope.blocks.flatMap((block) =>
      virtualHosts(node, block, rulesOf, port, { to: 'port' }),
    );
    const names = replacing('routes', (routes) =>
      (routes as readonly { readonly name: string }[]).map(({ name }) => name),
    );
    const all = hostResources.map(({ body }) =>
      names(messageJson(VirtualHostSchema, fromBinary(VirtualHostSchema, body))),
    );
    expect(stringify(all, { sortMapEntries: true })).toBe(canonical(expectedHosts));
  });
});
