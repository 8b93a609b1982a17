import { describe, expect, it } from 'vitest';
import { outboundListeners } from '../../../../../src/pilot-discovery/generate/listeners/outbound-listeners.ts';
import { outboundScope } from '../../../../../src/pilot-discovery/generate/scope/outbound-scope.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import {
  canonical,
  meshIn,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
  shortFilters,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

interface Proxy {
  readonly metadata?: string;
  readonly mesh?: string;
}

function listenersFor(yaml: readonly string[], { metadata = '', mesh = '' }: Proxy = {}) {
  const environment = environmentOf(yaml.join('---\n'), { mesh: meshIn(mesh) });
  const node = proxyIn(metadata);
  return outboundListeners(environment, node, outboundScope(environment, node));
}
const ofPorts = (yaml: readonly string[], proxy?: Proxy) =>
  listenersFor(yaml, proxy).filter(({ name }) => name !== 'virtualOutbound');

/** Returns the service `NAME.mesh` with one port, one endpoint and more fields. */
const service = (name: string, port: string, more = 'resolution: STATIC') =>
  resourceText(
    'ServiceEntry',
    name,
    `{ hosts: [${name}.mesh], ports: [{ name: p, ${port} }], endpoints: [{ address: 10.0.0.9 }], ${more} }`,
  );

const listener = (address: string, port: number, fields: string, bound = 'bind_to_port: false') => `
"${address}_${port}":
  name: "${address}_${port}"
  address: { socket_address: { address: "${address}", port_value: ${port} } }
  traffic_direction: OUTBOUND
  listener_filters_timeout: 0s
  continue_on_listener_filters_timeout: true
  ${bound}
  ${fields.trim().replaceAll('\n', '\n  ')}`;
const chain = (filter: string, match = '', more = '') =>
  `{ filters: ["${filter}"], ${match === '' ? '' : `filter_chain_match: ${match}, `}transport_socket_connect_timeout: 15s${more} }`;
const rule = (host: string, spec: string) =>
  resourceText('VirtualService', 'r', `{ hosts: [${host}], ${spec} }`);
const ofRule =
  ', metadata: { filter_metadata: { istio: { config: /apis/networking.istio.io/v1/namespaces/default/virtual-service/r } } }';
const isHttp = '{ transport_protocol: raw_buffer, application_protocols: [http/1.1, h2c] }';
const others = (cluster = 'PassthroughCluster') =>
  `default_filter_chain: { name: PassthroughFilterChain, filter_chain_match: {}, filters: [TCP to ${cluster}] }`;
const httpOf80 = `
filter_chains: [${chain('HTTP, routes 80', isHttp)}]
${others()}
listener_filters: [http_inspector]`;
const toA = 'TCP to outbound|90||a.mesh';

const egressProxy = resourceText(
  'Sidecar',
  's',
  '{ outboundTrafficPolicy: { mode: ALLOW_ANY, egressProxy: { host: proxy.mesh, subset: v1, port: { number: 3128 } } } }',
);
const socket = (bind: string, path: string, filter: string) => `
"${bind}_0":
  name: "${bind}_0"
  address: { pipe: { path: "${path}" } }
  traffic_direction: OUTBOUND
  listener_filters_timeout: 0s
  continue_on_listener_filters_timeout: true
  filter_chains: [${chain(filter)}]`;

describe('the listeners for what an application calls', () => {
  it.each<[what: string, yaml: readonly string[], listeners: string, proxy?: Proxy]>([
    [
      'HTTP: one for all services at a port, the rest passes',
      [service('a', 'number: 80, protocol: HTTP'), service('b', 'number: 80, protocol: HTTP2')],
      listener('0.0.0.0', 80, httpOf80),
    ],
    [
      'HTTP: the rest goes nowhere if only the registry may be called',
      [service('a', 'number: 80, protocol: HTTP')],
      listener('0.0.0.0', 80, httpOf80.replace('TCP to Passthrough', 'TCP to BlackHole')),
      { mesh: 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }' },
    ],
    ...['', ', addresses: [240.0.0.1]'].map((addresses): [string, readonly string[], string] => [
      `TLS to names that Envoy resolves, only for these names${addresses}`,
      [
        resourceText(
          'ServiceEntry',
          'd',
          `{ hosts: ['*.d.mesh'], resolution: DYNAMIC_DNS, ports: [{ number: 443, name: p, protocol: TLS }]${addresses} }`,
        ),
      ],
      listener(
        addresses === '' ? '0.0.0.0' : '240.0.0.1',
        443,
        `
filter_chains: [${chain('sni_dynamic_forward_proxy", "TCP to outbound|443||*.d.mesh', "{ server_names: ['*.d.mesh'] }")}]
${others()}
listener_filters: [tls_inspector]`,
      ),
    ]),
    [
      'TCP: at the address of the service',
      [service('a', 'number: 90, protocol: TCP', 'resolution: STATIC, addresses: [240.0.0.1]')],
      listener('240.0.0.1', 90, `filter_chains: [${chain(toA)}]`),
    ],
    [
      'TCP: at any address, if the service has none',
      [service('a', 'number: 90, protocol: TCP')],
      listener('0.0.0.0', 90, `filter_chains: [${chain(toA)}]`),
    ],
    [
      'TCP: in a range, the rest passes',
      [service('a', 'number: 90, protocol: TCP', 'resolution: STATIC, addresses: [240.0.0.0/16]')],
      listener(
        '0.0.0.0',
        90,
        `filter_chains: [${chain(toA, '{ prefix_ranges: [{ address_prefix: 240.0.0.0, prefix_len: 16 }] }')}]\n${others()}`,
      ),
    ],
    [
      'TCP: at each endpoint of a service that is not resolved',
      [
        resourceText('WorkloadEntry', 'w', '{ address: 10.0.0.8, labels: { app: a } }'),
        resourceText('WorkloadEntry', 'itself', '{ address: 10.0.0.1, labels: { app: a } }'),
        resourceText(
          'ServiceEntry',
          'a',
          '{ hosts: [a.mesh], resolution: NONE, location: MESH_INTERNAL, ports: [{ number: 90, name: p, protocol: TCP }], workloadSelector: { labels: { app: a } } }',
        ),
      ],
      listener('10.0.0.8', 90, `filter_chains: [${chain(toA)}]`),
    ],
    [
      'TLS: by the name that is asked for',
      [service('a', 'number: 90, protocol: TLS'), service('b', 'number: 90, protocol: HTTPS')],
      listener(
        '0.0.0.0',
        90,
        `
filter_chains:
  - ${chain(toA, '{ server_names: [a.mesh] }')}
  - ${chain('TCP to outbound|90||b.mesh', '{ server_names: [b.mesh] }')}
${others()}
listener_filters: [tls_inspector]`,
      ),
    ],
    [
      'Mongo: what understands it comes first',
      [service('a', 'number: 90, protocol: MONGO', 'resolution: STATIC, addresses: [240.0.0.1]')],
      listener(
        '240.0.0.1',
        90,
        `filter_chains: [{ filters: [mongo_proxy, "${toA}"], transport_socket_connect_timeout: 15s }]`,
      ),
    ],
    [
      'a protocol that is not said: HTTP if it turns out to be, at an address',
      [service('a', 'number: 90', 'resolution: STATIC, addresses: [240.0.0.1]')],
      listener(
        '240.0.0.1',
        90,
        `
filter_chains: [${chain('HTTP, routes a.mesh:90', isHttp)}]
default_filter_chain: ${chain(toA)}
listener_filters: [http_inspector]`,
      ),
    ],
    [
      'TCP beside HTTP, at any address',
      [service('a', 'number: 90, protocol: TCP'), service('b', 'number: 90, protocol: HTTP')],
      listener(
        '0.0.0.0',
        90,
        `
filter_chains: [${chain('HTTP, routes 90', isHttp)}]
default_filter_chain: ${chain(toA)}
listener_filters: [http_inspector]`,
      ),
    ],
    [
      'nothing is redirected: bound to loopback',
      [service('a', 'number: 8000, protocol: HTTP'), service('b', 'number: 90, protocol: TCP')],
      listener('127.0.0.1', 8000, `filter_chains: [${chain('HTTP, routes 8000')}]`, '') +
        listener('127.0.0.1', 90, `filter_chains: [${chain('TCP to outbound|90||b.mesh')}]`, ''),
      { metadata: 'INTERCEPTION_MODE: NONE' },
    ],
    [
      'nothing is redirected: only ports that the proxy may bind',
      [service('a', 'number: 8000, protocol: HTTP'), service('b', 'number: 90, protocol: TCP')],
      listener('127.0.0.1', 8000, `filter_chains: [${chain('HTTP, routes 8000')}]`, ''),
      { metadata: '{ INTERCEPTION_MODE: NONE, UNPRIVILEGED_POD: "true" }' },
    ],
    [
      'a proxy of both families: any address of both',
      [service('a', 'number: 80, protocol: HTTP')],
      listener(
        '0.0.0.0',
        80,
        `${httpOf80}\nadditional_addresses: [{ address: { socket_address: { address: "::", port_value: 80 } } }]`,
      ),
      { metadata: 'INSTANCE_IPS: "10.0.0.1,fd00::1"' },
    ],
    [
      'a proxy of IPv6',
      [service('a', 'number: 80, protocol: HTTP')],
      listener('::', 80, httpOf80),
      { metadata: 'INSTANCE_IPS: "fd00::1"' },
    ],
    [
      'connections spread evenly over threads, and time to see what they speak',
      [service('a', 'number: 90, protocol: TCP')],
      listener(
        '0.0.0.0',
        90,
        `filter_chains: [${chain(toA)}]\nconnection_balance_config: { exact_balance: {} }`,
      ).replace('filters_timeout: 0s', 'filters_timeout: 5s'),
      {
        metadata: 'OUTBOUND_LISTENER_EXACT_BALANCE: "true"',
        mesh: 'protocolDetectionTimeout: 5s',
      },
    ],
    [
      'TCP: where a VirtualService leads it, by weight and by where it was going to',
      [
        service('a', 'number: 90, protocol: TCP', 'resolution: STATIC, addresses: [240.0.0.1]'),
        rule(
          'a.mesh',
          'tcp: [{ match: [{ destinationSubnets: [240.0.0.1] }], route: [{ destination: { host: b.mesh } }] }, { route: [{ destination: { host: a.mesh, subset: v1 }, weight: 20 }, { destination: { host: a.mesh, subset: v2 }, weight: 80 }] }]',
        ),
      ],
      listener(
        '240.0.0.1',
        90,
        `
filter_chains:
  - ${chain('TCP to outbound|90||b.mesh', '{ prefix_ranges: [{ address_prefix: 240.0.0.1, prefix_len: 32 }] }', ofRule)}
default_filter_chain: ${chain('TCP to outbound|90|v1|a.mesh 20, outbound|90|v2|a.mesh 80', '', ofRule)}`,
      ),
    ],
    [
      'TLS: by the names of a VirtualService',
      [
        service('a', 'number: 90, protocol: TLS'),
        rule(
          '"*.mesh"',
          'tls: [{ match: [{ sniHosts: [b.mesh, "*.a.mesh"] }], route: [{ destination: { host: a.mesh } }] }]',
        ),
      ],
      listener(
        '0.0.0.0',
        90,
        `
filter_chains:
  - ${chain(toA, '{ server_names: ["*.a.mesh", b.mesh] }', ofRule)}
${others()}
listener_filters: [tls_inspector]`,
      ),
    ],
    [
      'a Unix socket of a Sidecar: bound, with routes for all ports, and connections to port 0',
      [
        service('a', 'number: 80, protocol: HTTP'),
        resourceText(
          'Sidecar',
          's',
          "{ egress: [{ bind: 'unix:///run/a', port: { number: 0, protocol: HTTP }, hosts: ['*/*'] }, { bind: 'unix://@b', port: { number: 0, protocol: TCP }, hosts: ['*/*'] }] }",
        ),
      ],
      socket('unix:///run/a', '/run/a', 'HTTP, routes unix:///run/a') +
        socket('unix://@b', '@b', 'TCP to outbound|0||a.mesh'),
    ],
    [
      'HTTP_PROXY of a Sidecar: captured, with one chain for all requests',
      [
        service('a', 'number: 80, protocol: HTTP'),
        resourceText(
          'Sidecar',
          's',
          "{ egress: [{ port: { number: 3128, protocol: HTTP_PROXY }, hosts: ['*/*'] }] }",
        ),
      ],
      listener('0.0.0.0', 3128, `filter_chains: [${chain('HTTP, routes 3128')}]`),
    ],
    [
      'a proxy for unknown hosts: the rest of a port goes to it',
      [service('a', 'number: 80, protocol: HTTP'), egressProxy],
      listener('0.0.0.0', 80, httpOf80.replace(others(), others('outbound|3128|v1|proxy.mesh'))),
    ],
    [
      'UDP, and the ports of the proxy itself: none',
      [
        service('a', 'number: 90, protocol: UDP'),
        service('b', 'number: 15001, protocol: TCP'),
        service('c', 'number: 15021, protocol: HTTP'),
      ],
      '{}',
    ],
  ])('%s', (_, yaml, listeners, proxy) => {
    expect(resourcesYaml(ListenerSchema, ofPorts(yaml, proxy), shortFilters)).toBe(
      canonical(listeners),
    );
  });

  it('have the settings of TCP of a rule, but not those of a port of it', () => {
    const rule = (policy: string) =>
      resourceText('DestinationRule', 'a', `{ host: a.mesh, trafficPolicy: ${policy} }`);
    const idle = (policy: string) =>
      /idle_timeout: \S+/.exec(
        resourcesYaml(
          ListenerSchema,
          ofPorts([service('a', 'number: 90, protocol: TCP'), rule(policy)]),
        ),
      )?.[0];
    const pool = 'connectionPool: { tcp: { idleTimeout: 60s } }';
    expect(idle(`{ ${pool} }`)).toBe('idle_timeout: 60s');
    expect(idle(`{ portLevelSettings: [{ port: { number: 90 }, ${pool} }] }`)).toBeUndefined();
  });

  it('are made of their services, their rules and the Sidecar that says where the rest goes', () => {
    const [portListener] = ofPorts([
      service('a', 'number: 80, protocol: HTTP'),
      resourceText('Sidecar', 's', '{ outboundTrafficPolicy: { mode: ALLOW_ANY } }'),
    ]);
    expect(portListener?.keys).toEqual(['ServiceEntry/default/a', 'Sidecar/default/s']);
  });

  it('are made of the VirtualService for their connections, and of the rule of its destination', () => {
    const [portListener] = ofPorts([
      service('a', 'number: 90, protocol: TCP'),
      service('b', 'number: 91, protocol: TCP'),
      rule('a.mesh', 'tcp: [{ route: [{ destination: { host: b.mesh } }] }]'),
      resourceText('DestinationRule', 'b', '{ host: b.mesh }'),
    ]);
    expect(portListener?.keys).toEqual([
      'DestinationRule/default/b',
      'VirtualService/default/r',
      'ServiceEntry/default/a',
    ]);
  });
});

describe('the listener for all that is redirected', () => {
  const capture = (address: string, cluster: string, more = '') => `
virtualOutbound:
  name: virtualOutbound
  address: { socket_address: { address: "${address}", port_value: 15001 } }
  filter_chains:
    - { name: virtualOutbound-blackhole, filter_chain_match: { destination_port: 15001 }, filters: [TCP to BlackHoleCluster] }
    - { name: virtualOutbound-catchall-tcp, filters: [TCP to ${cluster}] }
  use_original_dst: true
  traffic_direction: OUTBOUND
  max_connections_to_accept_per_socket_event: 1
  ${more}`;

  it.each<[what: string, yaml: readonly string[], proxy: Proxy, listeners: string]>([
    ['lets the rest pass', [], {}, capture('0.0.0.0', 'PassthroughCluster')],
    [
      'keeps the address of who calls',
      [],
      { metadata: 'INTERCEPTION_MODE: TPROXY' },
      capture('0.0.0.0', 'PassthroughCluster', 'transparent: true'),
    ],
    [
      'ends the rest by the mesh',
      [],
      { mesh: 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }' },
      capture('0.0.0.0', 'BlackHoleCluster'),
    ],
    [
      'ends the rest by a Sidecar',
      [resourceText('Sidecar', 's', '{ outboundTrafficPolicy: { mode: REGISTRY_ONLY } }')],
      {},
      capture('0.0.0.0', 'BlackHoleCluster'),
    ],
    [
      'gives the rest to the proxy that a Sidecar names',
      [egressProxy],
      {},
      capture('0.0.0.0', 'outbound|3128|v1|proxy.mesh'),
    ],
    [
      'is of IPv6 for a proxy that has nothing else',
      [],
      { metadata: 'INSTANCE_IPS: "fd00::1"' },
      capture('::', 'PassthroughCluster'),
    ],
    [
      'logs connections without a chain',
      [],
      { mesh: 'accessLogFile: /dev/stdout' },
      capture('0.0.0.0', 'PassthroughCluster', 'access_log: 1'),
    ],
    ['is not there if nothing is redirected', [], { metadata: 'INTERCEPTION_MODE: NONE' }, '{}'],
  ])('%s', (_, yaml, proxy, listeners) => {
    const shorten = replacing('access_log', (logs) => (logs as readonly unknown[]).length);
    expect(
      resourcesYaml(ListenerSchema, listenersFor(yaml, proxy), (message) =>
        shorten(shortFilters(message)),
      ),
    ).toBe(canonical(listeners));
  });
});
