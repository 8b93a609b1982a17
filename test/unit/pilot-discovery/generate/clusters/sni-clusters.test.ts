import { describe, expect, it } from 'vitest';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import {
  canonical,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
} from '../../../../support/golden.ts';
import { clustersOf, environmentOf } from '../../../../support/generated.ts';

const router = proxyIn('LABELS: { istio: ingressgateway }', {
  id: 'router~10.0.0.1~gateway.default~default.svc.cluster.local',
});
const gateway = (hosts = "'*.mesh'", mode = 'AUTO_PASSTHROUGH') =>
  resourceText(
    'Gateway',
    'cross',
    `{ servers: [{ port: { number: 15443, name: tls, protocol: TLS }, hosts: [${hosts}], tls: { mode: ${mode} } }] }`,
  );
const service = (more = 'resolution: STATIC', protocol = 'HTTP') =>
  resourceText(
    'ServiceEntry',
    'a',
    `{ hosts: [a.mesh], location: MESH_INTERNAL, ports: [{ number: 80, name: p, protocol: ${protocol} }], ${more} }`,
  );
const rule = (spec: string) => resourceText('DestinationRule', 'a', `{ host: a.mesh, ${spec} }`);
const sniClustersOf = (yaml: readonly string[], gatewayClusters?: 'all', node = router) =>
  clustersOf(
    environmentOf(yaml.join('---\n'), gatewayClusters === undefined ? {} : { gatewayClusters }),
    node,
  ).filter(({ name }) => name.startsWith('outbound_.'));
const names = (...inputs: Parameters<typeof sniClustersOf>) =>
  sniClustersOf(...inputs).map(({ name }) => name);
const sni = 'outbound_.80_._.a.mesh';

/** Prints the clusters, without the limits and the DNS resolver that each has. */
const printed = (yaml: readonly string[]) =>
  resourcesYaml(ClusterSchema, sniClustersOf(yaml), (cluster) =>
    ['circuit_breakers', 'typed_dns_resolver_config'].reduce(
      (shorter, name) => replacing(name, () => '…')(shorter),
      cluster,
    ),
  );

describe('the clusters of AUTO_PASSTHROUGH', () => {
  it('add no TLS, whatever the rule says, and have the other settings of the rule', () => {
    const yaml = [
      gateway(),
      service(),
      rule(
        'trafficPolicy: { tls: { mode: SIMPLE }, loadBalancer: { simple: RANDOM }, connectionPool: { http: { maxRequestsPerConnection: 3 } } }',
      ),
    ];
    expect(printed(yaml)).toBe(
      canonical(`
${sni}:
  name: ${sni}
  alt_stat_name: ${sni};
  type: EDS
  eds_cluster_config:
    service_name: ${sni}
    eds_config: { ads: {}, initial_fetch_timeout: 0s, resource_api_version: V3 }
  connect_timeout: 10s
  circuit_breakers: …
  lb_policy: RANDOM
  common_lb_config: {}
  typed_extension_protocol_options:
    envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
      "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
      common_http_protocol_options: { max_requests_per_connection: 3 }
      explicit_http_config: { http_protocol_options: {} }
  metadata:
    filter_metadata:
      istio:
        alpn_override: "false"
        config: /apis/networking.istio.io/v1/namespaces/default/destination-rule/a
        services: [{ host: a.mesh, name: a.mesh, namespace: default }]
`),
    );
  });

  it('have the endpoints of DNS that support mutual TLS', () => {
    const mutual = 'labels: { security.istio.io/tlsMode: istio }';
    const endpoints = (more: string) =>
      `resolution: DNS, endpoints: [{ address: a.com, ${more} }, { address: b.com }]`;
    const addresses = (yaml: readonly string[]) =>
      [...printed(yaml).matchAll(/address: (\w+\.com)/g)].map(([, address]) => address);
    expect(addresses([gateway(), service(endpoints(mutual))])).toEqual(['a.com']);
    expect(names([gateway(), service(endpoints('weight: 1'))])).toEqual([]);
    expect(
      names([
        gateway(),
        service(endpoints(mutual)),
        rule('trafficPolicy: { tls: { mode: DISABLE } }'),
      ]),
    ).toEqual([]);
  });

  it('are one for each subset', () => {
    expect(
      names([gateway(), service(), rule('subsets: [{ name: v1, labels: { v: v1 } }]')]),
    ).toEqual([sni, 'outbound_.80_.v1_.a.mesh']);
  });

  it('are those that its hosts contain; all in the mesh, if the control plane is told so', () => {
    expect(names([gateway('a.mesh'), service()])).toEqual([sni]);
    expect(names([gateway('b.mesh'), service()])).toEqual([]);
    expect(names([gateway('b.mesh'), service()], 'all')).toEqual([sni]);
    const external = service().replace('MESH_INTERNAL', 'MESH_EXTERNAL');
    expect(names([gateway('b.mesh'), external], 'all')).toEqual([]);
  });

  it('are none without AUTO_PASSTHROUGH, and none of a sidecar', () => {
    expect(names([gateway("'*.mesh'", 'PASSTHROUGH'), service()], 'all')).toEqual([]);
    expect(names([gateway(), service()], 'all', proxyIn(''))).toEqual([]);
  });
});
