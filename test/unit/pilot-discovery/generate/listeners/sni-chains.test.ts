import { describe, expect, it } from 'vitest';
import { gatewayListeners } from '../../../../../src/pilot-discovery/generate/listeners/gateway-listeners.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import { canonical, proxyIn, resourcesYaml, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const node = proxyIn('LABELS: { istio: ingressgateway }', {
  id: 'router~10.0.0.1~gateway.default~default.svc.cluster.local',
});
const server = (mode: string, hosts: string, name = 'tls') =>
  `{ port: { number: 15443, name: ${name}, protocol: TLS }, hosts: [${hosts}], tls: { mode: ${mode} } }`;
const gateway = (...servers: readonly string[]) =>
  resourceText('Gateway', 'cross', `{ servers: [${servers.join()}] }`);
const service = (host: string, port = '{ number: 80, name: http }') =>
  resourceText(
    'ServiceEntry',
    host.split('.')[0] ?? '',
    `{ hosts: [${host}], location: MESH_INTERNAL, resolution: STATIC, ports: [${port}] }`,
  );
const rule = (spec: string) => resourceText('DestinationRule', 'a', `{ host: a.mesh, ${spec} }`);

const listenersIn = (yaml: readonly string[]) =>
  gatewayListeners(environmentOf(yaml.join('---\n')), node);
/** Returns the chains of the listener, without the parts that they have in common. */
const chains = (yaml: readonly string[]) =>
  resourcesYaml(ListenerSchema, listenersIn(yaml), (message) => {
    const { filter_chains: all } = message as {
      readonly filter_chains: readonly {
        readonly filter_chain_match: { readonly server_names: readonly string[] };
        readonly filters: readonly { readonly typed_config: Readonly<Record<string, unknown>> }[];
      }[];
    };
    return all.map(({ filter_chain_match: match, filters }) => {
      const [{ typed_config: config } = { typed_config: {} }, ...others] = filters;
      const { '@type': type, stat_prefix: prefix, ...settings } = config;
      const isProxy = String(type).endsWith('.TcpProxy') && prefix === config['cluster'];
      return { names: match.server_names, ...settings, filters: isProxy ? 1 + others.length : 0 };
    });
  });
const listener = (...chainTexts: readonly string[]) =>
  canonical(chainTexts.length === 0 ? '{}' : `{ "0.0.0.0_15443": [${chainTexts.join()}] }`);
const chain = (name: string, more = '') =>
  `{ names: [${name}], cluster: ${name}, filters: 1${more} }`;

const automatic = server('AUTO_PASSTHROUGH', "'*.mesh'");
const a = 'outbound_.80_._.a.mesh';
const ofV1 = 'subsets: [{ name: v1, labels: { v: v1 }, trafficPolicy: { loadBalancer: ';

describe('the chains of AUTO_PASSTHROUGH', () => {
  it('match TLS of the mesh by its server name, and nothing else', () => {
    expect(
      resourcesYaml(ListenerSchema, listenersIn([gateway(automatic), service('a.mesh')])),
    ).toBe(
      canonical(`
0.0.0.0_15443:
  name: 0.0.0.0_15443
  address: { socket_address: { address: 0.0.0.0, port_value: 15443 } }
  traffic_direction: OUTBOUND
  max_connections_to_accept_per_socket_event: 1
  listener_filters:
    - name: envoy.filters.listener.tls_inspector
      typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector, initial_read_buffer_size: 512 }
  filter_chains:
    - filter_chain_match:
        server_names: [${a}]
        application_protocols: [istio, istio-peer-exchange, istio-http/1.0, istio-http/1.1, istio-h2]
      filters:
        - name: envoy.filters.network.tcp_proxy
          typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: ${a}, cluster: ${a} }
      transport_socket_connect_timeout: 15s
`),
    );
  });

  it.each([
    ['are none without a service', [gateway(automatic)], []],
    ['are none of a service that no host contains', [gateway(automatic), service('a.other')], []],
    [
      'are none of a service outside of the mesh',
      [gateway(automatic), service('a.mesh').replace('MESH_INTERNAL', 'MESH_EXTERNAL')],
      [],
    ],
    [
      'are none of a wildcard, which Envoy takes for no name',
      [gateway(automatic), service("'*.mesh'")],
      [],
    ],
    [
      'are one for each port but UDP, and for each subset',
      [
        gateway(automatic),
        service(
          'a.mesh',
          '{ number: 80, name: http }, { number: 53, name: udp, protocol: UDP }, { number: 90, name: mongo, protocol: MONGO }',
        ),
        rule('subsets: [{ name: v1, labels: { v: v1 } }]'),
      ],
      [a, 'outbound_.80_.v1_.a.mesh', 'outbound_.90_._.a.mesh', 'outbound_.90_.v1_.a.mesh'].map(
        (name) => chain(name),
      ),
    ],
    [
      'are of the first of two servers',
      [
        gateway(automatic, server('AUTO_PASSTHROUGH', "'*'", 'second')),
        service('a.mesh'),
        service('b.other'),
      ],
      [chain(a), chain('outbound_.80_._.b.other')],
    ],
    [
      'have no filter of a policy',
      [gateway(automatic), service('a.mesh'), resourceText('AuthorizationPolicy', 'p', '{}')],
      [chain(a)],
    ],
    [
      'have the settings of connections, and no tunnel',
      [
        gateway(automatic),
        service('a.mesh'),
        rule(
          'trafficPolicy: { tunnel: { targetHost: a.com, targetPort: 443 }, connectionPool: { tcp: { idleTimeout: 9s } } }',
        ),
      ],
      [chain(a, ', idle_timeout: 9s')],
    ],
    [
      'have the balancer of their subset',
      [
        gateway(automatic),
        service('a.mesh'),
        rule(`${ofV1}{ consistentHash: { useSourceIp: true } } } }]`),
      ],
      [chain(a), chain('outbound_.80_.v1_.a.mesh', ', hash_policy: [{ source_ip: {} }]')],
    ],
  ])('%s', (_, yaml, expected) => {
    expect(chains(yaml)).toBe(listener(...expected));
  });

  it('stand beside names that a VirtualService passes on, even if a host contains these', () => {
    const tls = resourceText(
      'VirtualService',
      'v',
      "{ hosts: ['*.mesh'], gateways: [cross], tls: [{ match: [{ sniHosts: ['*.mesh'] }], route: [{ destination: { host: a.mesh } }] }] }",
    );
    const both = gateway(automatic, server('PASSTHROUGH', "'*'", 'second'));
    expect(chains([both, service('a.mesh'), tls])).toBe(
      listener(chain(a), `{ names: ['*.mesh'], cluster: "outbound|80||a.mesh", filters: 1 }`),
    );
  });

  it('name the resources of which they are made', () => {
    const [{ keys } = { keys: [] }] = listenersIn([
      gateway(automatic),
      service('a.mesh'),
      rule('subsets: [{ name: v1, labels: { v: v1 } }]'),
    ]);
    expect(keys).toEqual([
      'Gateway/default/cross',
      'ServiceEntry/default/a',
      'DestinationRule/default/a',
    ]);
  });
});
