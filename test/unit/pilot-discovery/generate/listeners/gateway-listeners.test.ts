import { describe, expect, it } from 'vitest';
import { gatewayListeners } from '../../../../../src/pilot-discovery/generate/listeners/gateway-listeners.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import {
  canonical,
  proxyIn,
  resourcesYaml,
  resourceText,
  shortFilters,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const router = 'router~10.0.0.1~gateway.default~default.svc.cluster.local';
const labels = 'LABELS: { istio: ingressgateway }';
const listeners = (yaml: readonly string[], metadata = '', id = router) =>
  gatewayListeners(environmentOf(yaml.join('---\n')), proxyIn(`{ ${labels}${metadata} }`, { id }));
const printed = (yaml: readonly string[], metadata = '', id = router) =>
  resourcesYaml(ListenerSchema, listeners(yaml, metadata, id), shortFilters);

const gateway = (...servers: readonly string[]) => ofLabels('{ istio: ingressgateway }', servers);
const ofLabels = (selector: string, servers: readonly string[], name = 'front') =>
  resourceText('Gateway', name, `{ selector: ${selector}, servers: [${servers.join()}] }`);
const http = (number: number, more = '', hosts = 'a.example.com') =>
  `{ port: { number: ${number}, name: p${number}, protocol: HTTP }, hosts: [${hosts}]${more} }`;
const https = (hosts: string, tls: string, name = 's') =>
  `{ port: { number: 8443, name: ${name}, protocol: HTTPS }, hosts: [${hosts}], tls: { ${tls} } }`;
const simple = 'mode: SIMPLE, credentialName: c';

const listener = (chains: string, { port = 8080, address = '0.0.0.0', more = '' } = {}) => `
"${address}_${port}":
  name: "${address}_${port}"
  address: { socket_address: { address: "${address}", port_value: ${port} } }
  traffic_direction: OUTBOUND
  max_connections_to_accept_per_socket_event: 1
  ${more}
  filter_chains: [${chains}]`;
const chain = (way: string, more = '') =>
  `{ filters: ["${way}"], transport_socket_connect_timeout: 15s${more} }`;
const named = (names: string, way: string, socket = '') =>
  chain(way, `, filter_chain_match: { server_names: [${names}] }${socket}`);
const ownTls = ', transport_socket: TLS of its own';
const inspected = { port: 8443, more: 'listener_filters: [tls_inspector]' };
const routes = 'HTTP, routes http.8080';

describe('the listeners of a gateway', () => {
  it.each([
    ['are none without a Gateway', [], ''],
    [
      'are none of a Gateway that selects others',
      [ofLabels('{ istio: egressgateway }', [http(8080)])],
      '',
    ],
    [
      'are those of a Gateway that selects all',
      [ofLabels('{}', [http(8080)])],
      listener(chain(routes)),
    ],
    ['are one for each port', [gateway(http(8080))], listener(chain(routes))],
    [
      'are one for all servers of HTTP at a port',
      [gateway(http(8080)), ofLabels('{}', [http(8080, '', 'b.example.com')], 'second')],
      listener(chain(routes)),
    ],
    [
      'are one for each address',
      [gateway(http(8080, ', bind: 127.0.0.1'), http(8081, ', bind: "::1"'))],
      listener(chain('HTTP, routes http.8080.127.0.0.1'), { address: '127.0.0.1' }) +
        listener(chain('HTTP, routes http.8081.::1'), { port: 8081, address: '::1' }),
    ],
    [
      'have a chain for each server of HTTPS, told by its names',
      [
        gateway(
          https('b.example.com, a.example.com', simple),
          https('c.example.com', 'mode: ISTIO_MUTUAL', 't'),
        ),
      ],
      listener(
        `${named('a.example.com, b.example.com', 'HTTP, routes https.8443.s.front.default', ownTls)}, ${named('c.example.com', 'HTTP, routes https.8443.t.front.default', ', transport_socket: TLS of the mesh')}`,
        inspected,
      ),
    ],
    [
      'have a chain for all names',
      [gateway(https("'*'", simple))],
      listener(chain('HTTP, routes https.8443.s.front.default', ownTls), inspected),
    ],
    [
      'have no second chain for a name: the older server has it',
      [
        gateway(https('a.example.com', simple)),
        ofLabels('{}', [https('b.example.com, a.example.com', simple)], 'second'),
      ],
      listener(
        named('a.example.com', 'HTTP, routes https.8443.s.front.default', ownTls),
        inspected,
      ),
    ],
    [
      'have no second chain for a name of which two namespaces are let speak',
      [gateway(https('n1/a.example.com, n2/a.example.com', simple))],
      listener(
        named('a.example.com', 'HTTP, routes https.8443.s.front.default', ownTls),
        inspected,
      ),
    ],
    [
      'are those of the first, if another is not HTTP',
      [gateway(http(8443)), ofLabels('{}', [https('a.example.com', simple)], 'second')],
      listener(chain('HTTP, routes http.8443'), { port: 8443 }),
    ],
    [
      'are at a Unix socket, which has no port',
      [
        gateway(
          "{ port: { number: 0, name: http, protocol: HTTP }, bind: unix:///run/a, hosts: ['*'] }",
        ),
      ],
      `
unix:///run/a_0:
  name: unix:///run/a_0
  address: { pipe: { path: /run/a } }
  max_connections_to_accept_per_socket_event: 1
  traffic_direction: OUTBOUND
  filter_chains: [{ filters: ['HTTP, routes http.0.unix:///run/a'], transport_socket_connect_timeout: 15s }]
`,
    ],
    [
      'are open, whatever is asked of those who call a sidecar',
      [gateway(http(8080)), resourceText('PeerAuthentication', 'p', '{ mtls: { mode: STRICT } }')],
      listener(chain(routes)),
    ],
  ])('%s', (_, yaml, expected) => {
    expect(printed(yaml)).toBe(canonical(expected === '' ? '{}' : expected));
  });

  const passed = (hosts: string, name = 'p') =>
    `{ port: { number: 8443, name: ${name}, protocol: TLS }, hosts: [${hosts}], tls: { mode: PASSTHROUGH } }`;
  const tcp = (port: number, protocol = 'TCP') =>
    `{ port: { number: ${port}, name: t${port}, protocol: ${protocol} }, hosts: ['*'] }`;
  const rule = (routes: string, hosts = "'*'", name = 'r') =>
    resourceText('VirtualService', name, `{ hosts: [${hosts}], gateways: [front], ${routes} }`);
  const to = (host: string, match = '', more = '') =>
    `{ ${match === '' ? '' : `match: [${match}], `}route: [{ destination: { host: ${host} }${more} }] }`;
  const way = (host: string, port: number) => `TCP to outbound|${port}||${host}`;

  it.each([
    ['are none for TCP without a rule', [gateway(tcp(9000))], '{}'],
    [
      'have one chain for TCP, of the first route that is for the port and the gateway',
      [
        gateway(tcp(9000)),
        rule(
          `tcp: [${to('a.mesh', '{ port: 1 }')}, ${to('b.mesh', '{ gateways: [mesh] }')}, ${to('c.mesh', '{ port: 1 }, { port: 9000, gateways: [front] }')}, ${to('d.mesh')}]`,
        ),
      ],
      listener(chain(way('c.mesh', 9000)), { port: 9000 }),
    ],
    [
      'are none for TCP, if the rule is for other hosts',
      [
        gateway(tcp(9000).replace("'*'", 'a.example.com')),
        rule(`tcp: [${to('a.mesh')}]`, 'b.example.com'),
      ],
      '{}',
    ],
    [
      'have what understands MONGO before the proxy',
      [gateway(tcp(9000, 'MONGO')), rule(`tcp: [${to('a.mesh')}]`)],
      listener(
        `{ filters: [mongo_proxy, "${way('a.mesh', 9000)}"], transport_socket_connect_timeout: 15s }`,
        { port: 9000 },
      ),
    ],
    [
      'have the chain of the older server alone, if two are of TCP',
      [gateway(tcp(9000)), ofLabels('{}', [tcp(9000)], 'second'), rule(`tcp: [${to('a.mesh')}]`)],
      listener(chain(way('a.mesh', 9000)), { port: 9000 }),
    ],
    [
      'have a chain for each match of TLS that is passed on',
      [
        gateway(passed("'*.example.com'")),
        rule(
          `tls: [${to('a.mesh', '{ sniHosts: [a.example.com, b.example.com] }')}, ${to('b.mesh', '{ sniHosts: [c.example.com], port: 1 }, { sniHosts: [d.example.com] }')}]`,
          "'*.example.com'",
        ),
      ],
      listener(
        `${named('a.example.com, b.example.com', way('a.mesh', 8443))}, ${named('d.example.com', way('b.mesh', 8443))}`,
        inspected,
      ),
    ],
    [
      'have no second chain for a name that is passed on',
      [
        gateway(passed("'*'")),
        rule(
          `tls: [${to('a.mesh', '{ sniHosts: [a.example.com] }')}, ${to('b.mesh', '{ sniHosts: [a.example.com] }')}]`,
        ),
      ],
      listener(named('a.example.com', way('a.mesh', 8443)), inspected),
    ],
    [
      'pass no name on whose TLS ends here',
      [
        gateway(passed("'*'"), https('a.example.com', simple)),
        rule(`tls: [${to('a.mesh', '{ sniHosts: [a.example.com] }')}]`),
      ],
      listener(
        named('a.example.com', 'HTTP, routes https.8443.s.front.default', ownTls),
        inspected,
      ),
    ],
    [
      'pass no name on that the server is not for',
      [
        gateway(passed('a.example.com')),
        rule(
          `tls: [${to('a.mesh', '{ sniHosts: [a.example.com] }')}, ${to('b.mesh', '{ sniHosts: [b.example.com] }')}]`,
        ),
      ],
      listener(named('a.example.com', way('a.mesh', 8443)), inspected),
    ],
    [
      'pass on the names of a match that the server is for, and that end nowhere',
      [
        gateway(passed("a.example.com, '*.c.org'"), https('x.c.org', simple)),
        rule(
          `tls: [${to('a.mesh', '{ sniHosts: [x.c.org, y.c.org, b.example.com, a.example.com] }')}]`,
        ),
      ],
      listener(
        `${named('a.example.com, y.c.org', way('a.mesh', 8443))}, ${named('x.c.org', 'HTTP, routes https.8443.s.front.default', ownTls)}`,
        inspected,
      ),
    ],
    [
      'have no chain for a match with a name of an earlier one',
      [
        gateway(passed("'*'")),
        rule(
          `tls: [${to('a.mesh', '{ sniHosts: [a.example.com] }')}, ${to('b.mesh', '{ sniHosts: [b.example.com, a.example.com] }')}]`,
          'a.example.com, b.example.com',
        ),
      ],
      listener(named('a.example.com', way('a.mesh', 8443)), inspected),
    ],
    [
      'have no name beside all names of all namespaces',
      [
        gateway(https('a.example.com', simple), passed("'*/*', a.example.com, '*.example.com'")),
        rule(`tls: [${to('a.mesh', "{ sniHosts: ['*.example.com'] }")}]`),
      ],
      listener(
        `${named('a.example.com', 'HTTP, routes https.8443.s.front.default', ownTls)}, ${named("'*.example.com'", way('a.mesh', 8443))}`,
        inspected,
      ),
    ],
    [
      'pass all names on',
      [gateway(passed("'*'")), rule(`tls: [${to('a.mesh', "{ sniHosts: ['*'] }")}]`)],
      listener(chain(way('a.mesh', 8443)), inspected),
    ],
    [
      'have a chain of TCP whose TLS ends here',
      [
        gateway(passed('a.example.com').replace('PASSTHROUGH', 'SIMPLE, credentialName: c')),
        rule(`tcp: [${to('a.mesh')}]`),
      ],
      listener(named('a.example.com', way('a.mesh', 8443), ownTls), inspected),
    ],
    [
      'have what a policy asks before the proxy',
      [
        gateway(tcp(9000)),
        rule(`tcp: [${to('a.mesh')}]`),
        resourceText('AuthorizationPolicy', 'p', '{}'),
      ],
      listener(
        `{ filters: [rbac, "${way('a.mesh', 9000)}"], transport_socket_connect_timeout: 15s }`,
        { port: 9000 },
      ),
    ],
  ])('%s', (_, yaml, expected) => {
    expect(printed(yaml)).toBe(canonical(expected));
  });

  /** Returns the filter of the one chain of a listener. */
  const proxyOf = (yaml: readonly string[]) =>
    resourcesYaml(ListenerSchema, listeners(yaml), (message) => {
      const { filter_chains: chains } = message as {
        readonly filter_chains: readonly { readonly filters: readonly unknown[] }[];
      };
      return chains[0]?.filters[0];
    });
  const proxy = (fields: string) =>
    canonical(`
0.0.0.0_9000:
  name: envoy.filters.network.tcp_proxy
  typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, ${fields} }`);
  const service = (host: string, ports: string) =>
    resourceText(
      'ServiceEntry',
      's',
      `{ hosts: [${host}], resolution: STATIC, ports: [${ports}] }`,
    );
  const settings = (more: string) =>
    resourceText(
      'DestinationRule',
      'd',
      `{ host: a.mesh, trafficPolicy: { connectionPool: { tcp: { idleTimeout: 30s } } }${more} }`,
    );
  const tcpPort = '{ number: 90, name: t, protocol: TCP }';

  it('lead to several clusters by their weights, but for those of 0', () => {
    const route = (host: string, weight: number) =>
      `{ destination: { host: ${host}, subset: v1, port: { number: 90 } }, weight: ${weight} }`;
    const routes = ['a', 'b', 'c'].map((host, index) => route(`${host}.mesh`, index)).join();
    expect(proxyOf([gateway(tcp(9000)), rule(`tcp: [{ route: [${routes}] }]`)])).toBe(
      proxy(
        'stat_prefix: r.default, weighted_clusters: { clusters: [{ name: outbound|90|v1|b.mesh, weight: 1 }, { name: outbound|90|v1|c.mesh, weight: 2 }] }',
      ),
    );
  });

  it.each([
    ['of the service', '', '', 'idle_timeout: 30s'],
    [
      'of the service, whatever a subset says of its connections',
      ', subsets: [{ name: v1, labels: { v: v1 }, trafficPolicy: { connectionPool: { tcp: { idleTimeout: 40s } } } }]',
      ', subset: v1',
      'idle_timeout: 30s',
    ],
    [
      'of the subset, if it hashes',
      ', subsets: [{ name: v1, labels: { v: v1 }, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true } } } }]',
      ', subset: v1',
      'idle_timeout: 30s, hash_policy: [{ source_ip: {} }]',
    ],
    [
      'of the service, if a subset says none',
      ', subsets: [{ name: v1, labels: { v: v1 } }]',
      ', subset: v1',
      'idle_timeout: 30s',
    ],
  ])('have the settings %s', (_, more, subset, fields) => {
    const cluster = `outbound|90|${subset === '' ? '' : 'v1'}|a.mesh`;
    expect(
      proxyOf([
        gateway(tcp(9000)),
        rule(`tcp: [{ route: [{ destination: { host: a.mesh${subset} } }] }]`),
        service('a.mesh', tcpPort),
        settings(more),
      ]),
    ).toBe(proxy(`stat_prefix: ${cluster}, cluster: ${cluster}, ${fields}`));
  });

  it('listen in both families, if the proxy has both', () => {
    const both = ', INSTANCE_IPS: "10.0.0.1,2001:db8::1"';
    const more =
      "additional_addresses: [{ address: { socket_address: { address: '::', port_value: 8080 } } }]";
    expect(printed([gateway(http(8080))], both)).toBe(canonical(listener(chain(routes), { more })));
  });

  it('are none at a port that the proxy has itself, or may not bind', () => {
    const names = (metadata: string) =>
      listeners([gateway(http(80), http(8080), http(15_021), http(15_090))], metadata).map(
        ({ name }) => name,
      );
    expect(names('')).toEqual(['0.0.0.0_80', '0.0.0.0_8080']);
    expect(names(', UNPRIVILEGED_POD: "true"')).toEqual(['0.0.0.0_8080']);
    expect(names(', ENVOY_STATUS_PORT: 8080')).toEqual(['0.0.0.0_80', '0.0.0.0_15021']);
  });

  it('are at the port of the proxy to which a service of it leads', () => {
    const service = resourceText(
      'ServiceEntry',
      'g',
      '{ hosts: [g.mesh], location: MESH_INTERNAL, resolution: STATIC, ports: [{ number: 80, name: http, targetPort: 8080 }], endpoints: [{ address: 10.0.0.1, labels: { istio: ingressgateway } }] }',
    );
    expect(printed([gateway(http(80)), service])).toBe(canonical(listener(chain(routes))));
  });

  it('are none of a sidecar', () => {
    const sidecar = 'sidecar~10.0.0.1~app.default~default.svc.cluster.local';
    expect(printed([gateway(http(8080))], '', sidecar)).toBe(canonical('{}'));
  });
});
