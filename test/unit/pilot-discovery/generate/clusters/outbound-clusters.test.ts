import { describe, expect, it } from 'vitest';
import { outboundClusters } from '../../../../../src/pilot-discovery/generate/clusters/outbound-clusters.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import {
  canonical,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
  shortSources,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const sidecar = proxyIn('');
const router = proxyIn('', { id: 'router~10.0.0.1~g.default~default.svc.cluster.local' });
const ofIpv6 = proxyIn('INSTANCE_IPS: "fd00::1"');

/** Returns the clusters of the services that a proxy sees. Circuit breakers have their own test. */
function clustersFor(yaml: readonly string[], node = sidecar): string {
  const noLimits = replacing('circuit_breakers', () => 'NONE');
  return resourcesYaml(
    ClusterSchema,
    [
      ...outboundClusters(
        environmentOf(yaml.join('---\n'), { gatewayClusters: 'all' }),
        node,
      ).resources.values(),
    ],
    (message) => noLimits(shortSources(message)),
  );
}

/**
 * Returns a.mesh with port 80 for HTTP; it is outside of the mesh unless `more` places it inside.
 */
const service = (more: string, port = 'number: 80, name: http, protocol: HTTP') =>
  resourceText('ServiceEntry', 'a', `{ hosts: [a.mesh], ports: [{ ${port} }], ${more} }`);
const rule = (spec: string) => resourceText('DestinationRule', 'a', `{ host: a.mesh, ${spec} }`);

const cluster = (yaml: string, { subset = '', istio = 'external: true', port = 80 } = {}) => `
outbound|${port}|${subset}|a.mesh:
  name: outbound|${port}|${subset}|a.mesh
  alt_stat_name: outbound|${port}|${subset}|a.mesh;
  connect_timeout: 10s
  circuit_breakers: NONE
  common_lb_config: {}
  metadata: { filter_metadata: { istio: { services: [{ host: a.mesh, name: a.mesh, namespace: default }], ${istio} } } }
  ${yaml.trim().replaceAll('\n', '\n  ')}`;
const eds = (subset = '') => `
lb_policy: LEAST_REQUEST
type: EDS
eds_cluster_config:
  service_name: outbound|80|${subset}|a.mesh
  eds_config: { ads: {}, initial_fetch_timeout: 0s, resource_api_version: V3 }`;
const dns = (kind: string, hosts: readonly string[], family = 'V4_ONLY') => `
lb_policy: LEAST_REQUEST
type: ${kind}
dns_refresh_rate: 60s
respect_dns_ttl: true
dns_lookup_family: ${family}
typed_dns_resolver_config:
  name: envoy.network.dns_resolver.cares
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig
    udp_max_queries: 100
load_assignment:
  cluster_name: outbound|80||a.mesh
  endpoints:
    - locality: {}
      load_balancing_weight: ${hosts.length}
      lb_endpoints:${hosts
        .map(
          (host) => `
        - endpoint: { address: { socket_address: { address: ${host}, port_value: 80 } } }
          metadata: { filter_metadata: { istio: { workload: ;;;;Kubernetes } } }
          load_balancing_weight: 1`,
        )
        .join('')}`;
const direct = `
lb_policy: CLUSTER_PROVIDED
type: ORIGINAL_DST`;
const ofRule = 'config: /apis/networking.istio.io/v1/namespaces/default/destination-rule/a';
const tls = '{ mode: SIMPLE, sni: b.mesh }';
const originated = `
transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    sni: b.mesh
    common_tls_context:
      tls_params: { tls_minimum_protocol_version: TLSv1_2, tls_maximum_protocol_version: TLSv1_3 }
      combined_validation_context:
        default_validation_context: {}
        validation_context_sds_secret_config: { name: file-root:system, sds_config: "agent,1s" }`;

describe('the clusters of a service', () => {
  const two = 'endpoints: [{ address: x.mesh }, { address: y.mesh }]';
  it.each<[what: string, yaml: readonly string[], clusters: string, node?: typeof sidecar]>([
    [
      'STATIC: the endpoints are asked for',
      [service('resolution: STATIC, endpoints: [{ address: 10.0.0.9 }]')],
      cluster(eds()),
    ],
    ['STATIC without endpoints', [service('resolution: STATIC')], cluster(eds())],
    ['DNS: of its own name', [service('resolution: DNS')], cluster(dns('STRICT_DNS', ['a.mesh']))],
    [
      'DNS: of the names of its endpoints',
      [service(`resolution: DNS, ${two}`)],
      cluster(dns('STRICT_DNS', ['x.mesh', 'y.mesh'])),
    ],
    [
      'DNS_ROUND_ROBIN: of one name',
      [service('resolution: DNS_ROUND_ROBIN, endpoints: [{ address: x.mesh }]')],
      cluster(dns('LOGICAL_DNS', ['x.mesh'])),
    ],
    [
      'DNS: none if a selector finds nobody',
      [service('resolution: DNS, workloadSelector: { labels: { app: none } }')],
      '{}',
    ],
    [
      'DNS of a proxy that has IPv6 alone',
      [service('resolution: DNS')],
      cluster(dns('STRICT_DNS', ['a.mesh'], 'V6_ONLY')),
      ofIpv6,
    ],
    ['NONE: where the call was going', [service('resolution: NONE')], cluster(direct)],
    [
      'NONE: where the call was going, at another port',
      [service('resolution: NONE', 'number: 80, name: http, protocol: HTTP, targetPort: 8080')],
      cluster(`${direct}\noriginal_dst_lb_config: { upstream_port_override: 8080 }`),
    ],
    ['NONE of a gateway: nobody was called', [service('resolution: NONE')], cluster(eds()), router],
    [
      'PASSTHROUGH: where the call was going, whatever endpoints there are',
      [
        service('resolution: STATIC, endpoints: [{ address: 10.0.0.9 }]'),
        rule('trafficPolicy: { loadBalancer: { simple: PASSTHROUGH } }'),
      ],
      cluster(direct, { istio: `external: true, ${ofRule}` }),
    ],
    [
      'TLS that begins here',
      [service('resolution: STATIC'), rule(`trafficPolicy: { tls: ${tls} }`)],
      cluster(eds() + originated, {
        istio: `external: true, alpn_override: "false", ${ofRule}`,
      }),
    ],
    [
      'subsets, which are not said to be outside of the mesh',
      [service('resolution: STATIC'), rule('subsets: [{ name: v1, labels: { v: "1" } }]')],
      cluster(eds(), { istio: `external: true, ${ofRule}` }) +
        cluster(eds('v1'), { subset: 'v1', istio: `subset: v1, ${ofRule}` }),
    ],
    ['UDP: none', [service('resolution: STATIC', 'number: 53, name: udp, protocol: UDP')], '{}'],
  ])('%s', (_, yaml, clusters, node) => {
    expect(clustersFor(yaml, node)).toBe(canonical(clusters));
  });
});

describe('mutual TLS of the mesh', () => {
  const inMesh = (more: string) => service(`location: MESH_INTERNAL, ${more}`);
  const meshed = 'labels: { security.istio.io/tlsMode: istio }, serviceAccount: sa';
  const off = resourceText('PeerAuthentication', 'p', '{ mtls: { mode: DISABLE } }');
  const sockets = (yaml: readonly string[]): string => {
    const text = clustersFor(yaml);
    return text.includes('transport_socket_matches')
      ? 'by endpoint'
      : text.includes('transport_socket:')
        ? 'always'
        : 'never';
  };

  it.each<[what: string, yaml: readonly string[], used: ReturnType<typeof sockets>]>([
    [
      'is used by those endpoints that can do it',
      [
        inMesh(
          `resolution: STATIC, endpoints: [{ address: 10.0.0.9 }, { address: 10.0.0.8, ${meshed} }]`,
        ),
      ],
      'by endpoint',
    ],
    [
      'is not used outside of it',
      [service(`resolution: STATIC, endpoints: [{ address: 10.0.0.8, ${meshed} }]`)],
      'never',
    ],
    ['is not used if the namespace disables it', [inMesh('resolution: STATIC'), off], 'never'],
    ['is not used if no endpoint is known', [inMesh('resolution: NONE')], 'never'],
    [
      'is used with PASSTHROUGH if all endpoints can do it',
      [
        inMesh(`resolution: STATIC, endpoints: [{ address: 10.0.0.8, ${meshed} }]`),
        rule('trafficPolicy: { loadBalancer: { simple: PASSTHROUGH } }'),
      ],
      'always',
    ],
    [
      'is not used with PASSTHROUGH if one cannot',
      [
        inMesh(
          `resolution: STATIC, endpoints: [{ address: 10.0.0.8, ${meshed} }, { address: 10.0.0.9 }]`,
        ),
        rule('trafficPolicy: { loadBalancer: { simple: PASSTHROUGH } }'),
      ],
      'never',
    ],
  ])('%s', (_, yaml, used) => {
    expect(sockets(yaml)).toBe(used);
  });

  it('names the accounts of all endpoints and the names of the service', () => {
    const text = clustersFor([
      inMesh(
        `resolution: STATIC, subjectAltNames: [b], endpoints: [{ address: 10.0.0.8, ${meshed} }, { address: 10.0.0.9, ${meshed} }]`,
      ),
    ]);
    expect([...text.matchAll(/exact: (\S+)/g)].map(([, name]) => name)).toEqual([
      'b',
      'spiffe://cluster.local/ns/default/sa/sa',
    ]);
  });
});
