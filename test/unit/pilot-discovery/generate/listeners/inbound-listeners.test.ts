import { describe, expect, it } from 'vitest';
import { inboundListeners } from '../../../../../src/pilot-discovery/generate/listeners/inbound-listeners.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import {
  canonical,
  meshIn,
  proxyIn,
  resourcesYaml,
  resourceText,
  shortFilters,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

interface Proxy {
  readonly metadata?: string;
  readonly mesh?: string;
}

const listenersFor = (yaml: readonly string[], { metadata = '', mesh = '' }: Proxy = {}) =>
  inboundListeners(environmentOf(yaml.join('---\n'), { mesh: meshIn(mesh) }), proxyIn(metadata));

/** Returns a service of the workload, which listens on 8080. */
const service = (protocol: string) =>
  resourceText(
    'ServiceEntry',
    'a',
    `{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: p, protocol: ${protocol}, targetPort: 8080 }], endpoints: [{ address: 10.0.0.1, labels: { app: app } }] }`,
  );
const peers = (spec: string) => resourceText('PeerAuthentication', 'p', spec);
const disabled = peers('{ mtls: { mode: DISABLE } }');
const ingress = (...ports: readonly string[]) =>
  resourceText('Sidecar', 's', `{ ingress: [${ports.join()}] }`);

const plainHttp = 'application_protocols: [http/1.1, h2c]';
const port = (number: number) =>
  `{ destination_port_range: { start: ${number}, end: ${number + 1} } }`;
/** Returns a chain without TLS. */
const chain = (name: string, way: string, number = 0, more = '') => `
    - name: ${name}
      filter_chain_match: { transport_protocol: raw_buffer, ${number === 0 ? '' : `destination_port: ${number}, `}${more} }
      filters: ["${way}"]`;
const toApplication = (number = 0) =>
  chain('virtualInbound-catchall-http', 'HTTP to InboundPassthroughCluster', number, plainHttp) +
  chain('virtualInbound', 'TCP to InboundPassthroughCluster', number);

/** Returns the listener for all redirected connections; the mesh has mutual TLS disabled. */
const capture = (chains: string, filters: string, more = '') => `
virtualInbound:
  name: virtualInbound
  address: { socket_address: { address: 0.0.0.0, port_value: 15006 } }
  traffic_direction: INBOUND
  listener_filters_timeout: 0s
  continue_on_listener_filters_timeout: true
  max_connections_to_accept_per_socket_event: 1
  listener_filters: [${filters}]
  ${more}
  filter_chains:
    - { name: virtualInbound-blackhole, filter_chain_match: { destination_port: 15006 }, filters: [TCP to BlackHoleCluster] }${chains}`;
const sniffed = `original_dst, { http_inspector: { but_for: ${port(15_006)} } }`;
const sniffedBut = (...ports: readonly number[]) =>
  `original_dst, { http_inspector: { but_for: { or_match: { rules: [${ports.map(port).join()}] } } } }`;

describe('the listener for all that is redirected to a workload', () => {
  it.each<[what: string, yaml: readonly string[], listeners: string, proxy?: Proxy]>([
    ['hands to the application what no service names', [], capture(toApplication(), sniffed)],
    [
      'hands a port of a service to it by its protocol',
      [service('HTTP')],
      capture(
        toApplication() + chain('0.0.0.0_8080', 'HTTP to inbound|8080||', 8080),
        sniffedBut(8080, 15_006),
      ),
    ],
    [
      'inspects no port of TCP, where the server may speak first',
      [service('TCP')],
      capture(
        toApplication() + chain('0.0.0.0_8080', 'TCP to inbound|8080||', 8080),
        sniffedBut(8080, 15_006),
      ),
    ],
    [
      'inspects a port whose protocol is not said',
      [service('""')],
      capture(
        toApplication() +
          chain('0.0.0.0_8080', 'HTTP to inbound|8080||', 8080, plainHttp) +
          chain('0.0.0.0_8080', 'TCP to inbound|8080||', 8080),
        sniffed,
      ),
    ],
    [
      'has the ports of a Sidecar instead of those of services',
      [
        service('TCP'),
        ingress(
          '{ port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: "127.0.0.1:8080" }',
        ),
      ],
      capture(
        `${toApplication()}${chain('10.0.0.1_9080', 'HTTP to inbound|9080||', 9080)}
      metadata: { filter_metadata: { istio: { config: /apis/networking.istio.io/v1/namespaces/default/sidecar/s } } }`,
        sniffedBut(9080, 15_006),
      ),
    ],
    [
      'keeps the address of who calls',
      [],
      capture(
        toApplication(),
        sniffed.replace('original_dst', 'original_dst, original_src'),
        'transparent: true',
      ),
      { metadata: 'INTERCEPTION_MODE: TPROXY' },
    ],
    [
      'spreads connections evenly over threads',
      [],
      capture(toApplication(), sniffed, 'connection_balance_config: { exact_balance: {} }'),
      { metadata: 'INBOUND_LISTENER_EXACT_BALANCE: "true"' },
    ],
    [
      'waits to see what is spoken as long as the mesh says',
      [],
      capture(toApplication(), sniffed).replace('filters_timeout: 0s', 'filters_timeout: 2s'),
      { mesh: 'protocolDetectionTimeout: 2s' },
    ],
  ])('%s', (_, yaml, listeners, proxy) => {
    expect(
      resourcesYaml(ListenerSchema, listenersFor([disabled, ...yaml], proxy), shortFilters),
    ).toBe(canonical(listeners));
  });

  it('has chains of its own for a port that no service names, if a policy does', () => {
    const strict = peers(
      '{ selector: { matchLabels: { app: app } }, mtls: { mode: STRICT }, portLevelMtls: { 9000: { mode: DISABLE } } }',
    );
    const meshHttp = 'istio-http/1.0, istio-http/1.1, istio-h2';
    const ofMesh = 'transport_socket: TLS of the mesh';
    expect(resourcesYaml(ListenerSchema, listenersFor([strict]), shortFilters)).toBe(
      canonical(
        capture(
          `
    - name: virtualInbound-catchall-http
      filter_chain_match: { transport_protocol: tls, application_protocols: [${meshHttp}] }
      filters: [HTTP to InboundPassthroughCluster]
      ${ofMesh}
    - name: virtualInbound
      filter_chain_match: { transport_protocol: tls }
      filters: [TCP to InboundPassthroughCluster]
      ${ofMesh}${toApplication(9000)}`,
          `original_dst,
      { tls_inspector: { but_for: { or_match: { rules: [${port(9000)}, ${port(15_006)}] } } } },
      { http_inspector: { but_for: { or_match: { rules: [{ destination_port_range: { end: 1 } }, ${port(15_006)}] } } } }`,
        ),
      ),
    );
  });
});

describe('the listeners of a Sidecar that are bound', () => {
  const bound = (address: string, number: number, way: string) => `
"${address}_${number}":
  name: "${address}_${number}"
  address: { socket_address: { address: "${address}", port_value: ${number} } }
  traffic_direction: INBOUND
  listener_filters_timeout: 0s
  continue_on_listener_filters_timeout: true
  max_connections_to_accept_per_socket_event: 1
  filter_chains:${chain(`"${address}_${number}"`, way, number)}
      metadata: { filter_metadata: { istio: { config: /apis/networking.istio.io/v1/namespaces/default/sidecar/s } } }`;
  const http = (more: string) =>
    `{ port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: "127.0.0.1:8080"${more} }`;
  const low =
    '{ port: { number: 80, name: tcp, protocol: TCP }, bind: 10.0.0.1, defaultEndpoint: "127.0.0.1:81" }';

  it.each<[what: string, ports: readonly string[], metadata: string, listeners: string]>([
    [
      'all, if nothing is redirected; at the address of the proxy if none is said',
      [http(''), low],
      'INTERCEPTION_MODE: NONE',
      bound('10.0.0.1', 9080, 'HTTP to inbound|9080||') +
        bound('10.0.0.1', 80, 'TCP to inbound|80||'),
    ],
    [
      'those that the proxy may bind',
      [http(', bind: 127.0.0.5'), low],
      '{ INTERCEPTION_MODE: NONE, UNPRIVILEGED_POD: "true" }',
      bound('127.0.0.5', 9080, 'HTTP to inbound|9080||'),
    ],
    [
      'none that is redirected by its own word',
      [http(', captureMode: IPTABLES')],
      'INTERCEPTION_MODE: NONE',
      '{}',
    ],
    [
      'those that are not redirected by their own word',
      [http(', captureMode: NONE')],
      '',
      bound('10.0.0.1', 9080, 'HTTP to inbound|9080||') + capture(toApplication(), sniffed),
    ],
  ])('%s', (_, ports, metadata, listeners) => {
    const generated = listenersFor([disabled, ingress(...ports)], { metadata });
    expect(resourcesYaml(ListenerSchema, generated, shortFilters)).toBe(canonical(listeners));
  });

  it('are none without a Sidecar', () => {
    expect(listenersFor([service('HTTP')], { metadata: 'INTERCEPTION_MODE: NONE' })).toEqual([]);
  });
});
