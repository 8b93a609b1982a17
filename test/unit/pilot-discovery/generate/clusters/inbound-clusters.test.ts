import { describe, expect, it } from 'vitest';
import {
  inboundClusters,
  standsForOwn,
} from '../../../../../src/pilot-discovery/generate/clusters/inbound-clusters.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { canonical, proxyIn, resourcesYaml, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const clustersOf = (yaml: readonly string[], metadata = ''): string =>
  resourcesYaml(
    ClusterSchema,
    inboundClusters(environmentOf(yaml.join('---\n')), proxyIn(metadata)),
  );

/** Returns a service of the workload, which listens on 8080. */
const service = (more = 'location: MESH_INTERNAL', protocol = 'HTTP') =>
  resourceText(
    'ServiceEntry',
    'a',
    `{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: p, protocol: ${protocol}, targetPort: 8080 }], endpoints: [{ address: 10.0.0.1, labels: { app: app } }], ${more} }`,
  );
const rule = (policy: string) =>
  resourceText('DestinationRule', 'a', `{ host: a.mesh, trafficPolicy: ${policy} }`);
const sidecar = (spec: string) => resourceText('Sidecar', 's', spec);
const ingress = (defaultEndpoint: string, more = '') =>
  sidecar(
    `{ ingress: [{ port: { number: 9080, name: tcp, protocol: TCP }, ${defaultEndpoint === '' ? '' : `defaultEndpoint: "${defaultEndpoint}",`} ${more} }] }`,
  );

const limits = (connections = 4_294_967_295) => `
  circuit_breakers:
    thresholds:
      - max_connections: ${connections}
        max_pending_requests: 4294967295
        max_requests: 4294967295
        max_retries: 4294967295
        track_remaining: true`;
const cluster = (port: number, yaml: string, connections?: number) => `
inbound|${port}||:
  name: inbound|${port}||
  alt_stat_name: inbound|${port}||;
  connect_timeout: 10s
  common_lb_config: {}${limits(connections)}
  ${yaml.trim().replaceAll('\n', '\n  ')}`;
const captured = (source = '127.0.0.6') => `
type: ORIGINAL_DST
lb_policy: CLUSTER_PROVIDED
cleanup_interval: 9223372035s
upstream_bind_config: { source_address: { address: "${source}", port_value: 0 } }`;
const ofA = (more = '') =>
  `\nmetadata: { filter_metadata: { istio: { services: [{ host: a.mesh, name: a.mesh, namespace: default }]${more} } } }`;
const ofRule = ', config: /apis/networking.istio.io/v1/namespaces/default/destination-rule/a';
const options = (yaml: string) => `
typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    ${yaml.trim().replaceAll('\n', '\n    ')}`;

describe('the clusters of what a workload serves', () => {
  it.each<[what: string, yaml: readonly string[], clusters: string, metadata?: string]>([
    ['a service', [service()], cluster(8080, captured() + ofA())],
    [
      'a service whose rule has only subsets',
      [
        service(),
        resourceText('DestinationRule', 'a', '{ host: a.mesh, subsets: [{ name: v1 }] }'),
      ],
      cluster(8080, captured() + ofA()),
    ],
    [
      'a service outside of the mesh',
      [service('location: MESH_EXTERNAL')],
      cluster(8080, captured()),
    ],
    [
      'gRPC',
      [service('location: MESH_INTERNAL', 'GRPC')],
      cluster(
        8080,
        captured() + ofA() + options('explicit_http_config: { http2_protocol_options: {} }'),
      ),
    ],
    [
      'a pool of a rule, of which an upgrade is for callers alone',
      [
        service(),
        rule(
          '{ connectionPool: { tcp: { maxConnections: 7 }, http: { h2UpgradePolicy: UPGRADE } } }',
        ),
      ],
      cluster(8080, captured() + ofA(ofRule), 7),
    ],
    [
      'a pool of a Sidecar, before that of a rule',
      [
        service(),
        rule('{ connectionPool: { tcp: { maxConnections: 7 } } }'),
        sidecar(
          '{ outboundTrafficPolicy: { mode: ALLOW_ANY }, inboundConnectionPool: { tcp: { maxConnections: 3 } } }',
        ),
      ],
      cluster(8080, captured() + ofA(ofRule), 3),
    ],
    [
      'a proxy of IPv6',
      [service().replace('10.0.0.1', 'fd00::1')],
      cluster(8080, captured('::6') + ofA()),
      'INSTANCE_IPS: "fd00::1"',
    ],
    ['none if nothing is redirected', [service()], '{}', 'INTERCEPTION_MODE: NONE'],
    [
      'none of another namespace',
      [service().replace('namespace: default', 'namespace: other')],
      '{}',
    ],
  ])('%s', (_, yaml, clusters, metadata) => {
    expect(clustersOf(yaml, metadata)).toBe(canonical(clusters));
  });
});

describe('the cluster of a port of a Sidecar', () => {
  const endpointAt = (address: string, more = '') => `
type: STATIC
load_assignment:
  cluster_name: inbound|9080||
  endpoints: [{ lb_endpoints: [{ endpoint: { address: ${address} } }] }]${more}`;
  const socket = (address: string) =>
    `{ socket_address: { address: "${address}", port_value: 8080 } }`;
  const bound = (source: string) =>
    `\nupstream_bind_config: { source_address: { address: "${source}", port_value: 0 } }`;
  const both = 'INSTANCE_IPS: "10.0.0.1,fd00::1"';
  const ipv6 = 'INSTANCE_IPS: "fd00::1"';

  it.each<[endpoint: string, metadata: string, yaml: string]>([
    ['127.0.0.1:8080', '', endpointAt(socket('127.0.0.1'))],
    ['0.0.0.0:8080', '', endpointAt(socket('10.0.0.1'), bound('127.0.0.6'))],
    ['unix:///run/a.sock', '', endpointAt('{ pipe: { path: /run/a.sock } }', bound('127.0.0.6'))],
    ['[::]:8080', both, endpointAt(socket('fd00::1'), bound('127.0.0.6'))],
    ['[::]:8080', '', endpointAt(socket('::1'))],
    ['[::1]:8080', both, endpointAt(socket('::1'))],
    ['[::1]:8080', '', endpointAt(socket('127.0.0.1'))],
    ['127.0.0.1:8080', ipv6, endpointAt(socket('::1'))],
    ['0.0.0.0:8080', ipv6, endpointAt(socket('127.0.0.1'))],
    ['', '', captured()],
  ])('leads to "%s" of a proxy with %s', (endpoint, metadata, yaml) => {
    expect(clustersOf([ingress(endpoint)], metadata)).toBe(canonical(cluster(9080, yaml)));
  });

  it('has a pool of its own, else that of the Sidecar', () => {
    const pool = (connections: number) => `{ tcp: { maxConnections: ${connections} } }`;
    const ofPort = ingress('127.0.0.1:8080', `connectionPool: ${pool(5)}`);
    expect(clustersOf([ofPort])).toBe(canonical(cluster(9080, endpointAt(socket('127.0.0.1')), 5)));
    const ofAll = sidecar(
      `{ inboundConnectionPool: ${pool(6)}, ingress: [{ port: { number: 9080, name: tcp, protocol: TCP }, defaultEndpoint: "127.0.0.1:8080" }] }`,
    );
    expect(clustersOf([ofAll])).toBe(canonical(cluster(9080, endpointAt(socket('127.0.0.1')), 6)));
  });

  it('has what a service says of the same port', () => {
    const same = ingress('127.0.0.1:8080').replace('9080', '8080');
    expect(
      clustersOf([service(), rule('{ connectionPool: { tcp: { maxConnections: 7 } } }'), same]),
    ).toBe(
      canonical(
        cluster(8080, endpointAt(socket('127.0.0.1')).replace('9080', '8080') + ofA(ofRule), 7),
      ),
    );
  });
});

it.each([
  ['0.0.0.0:80', true],
  ['[::]:80', true],
  ['127.0.0.1:80', false],
  ['unix:///0.0.0.0:80', false],
])('the endpoint %s is at the address of the workload: %s', (endpoint, standsFor) => {
  expect(standsForOwn(endpoint)).toBe(standsFor);
});
