import { describe, expect, it } from 'vitest';
import {
  blackHole,
  tcpFilters,
} from '../../../../../src/pilot-discovery/generate/listeners/tcp-chain.ts';
import type { Protocol } from '../../../../../src/pilot-discovery/istio/fields/values.ts';
import { FilterChainSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import {
  canonical,
  messageYaml,
  reportingIn,
  replacing,
  specIn,
} from '../../../../support/golden.ts';

/**
 * Returns the filters of a chain to a.mesh, with the number of access logs in place of the logs.
 */
function filtersOf(trafficPolicy: string, protocol: Protocol = 'tcp', mesh = ''): string {
  const rule = `{ host: a.mesh, trafficPolicy: ${trafficPolicy} }`;
  const policy = trafficPolicy === '' ? undefined : specIn('DestinationRule', rule).trafficPolicy;
  return messageYaml(
    FilterChainSchema,
    { filters: tcpFilters(reportingIn(mesh), 'outbound|90||a.mesh', protocol, policy) },
    replacing('access_log', (logs) => (logs as readonly unknown[]).length),
  );
}

const proxy = (more = '') => `
  - name: envoy.filters.network.tcp_proxy
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: outbound|90||a.mesh
      cluster: outbound|90||a.mesh
      ${more}`;

describe('the filters of a chain of TCP', () => {
  it.each<[what: string, trafficPolicy: string, filters: string]>([
    ['lead to a cluster', '', proxy()],
    [
      'end connections that are idle or old',
      '{ connectionPool: { tcp: { idleTimeout: 60s, maxConnectionDuration: 600s } } }',
      proxy('idle_timeout: 60s\n      max_downstream_connection_duration: 600s'),
    ],
    [
      'hash the address of the caller',
      '{ loadBalancer: { consistentHash: { useSourceIp: true } } }',
      proxy('hash_policy: [{ source_ip: {} }]'),
    ],
    [
      'go through a tunnel by CONNECT',
      '{ tunnel: { targetHost: far.example.com, targetPort: 443 } }',
      proxy('tunneling_config: { hostname: "far.example.com:443" }'),
    ],
    [
      'go through a tunnel by POST',
      '{ tunnel: { protocol: POST, targetHost: 10.9.9.9, targetPort: 80 } }',
      proxy('tunneling_config: { hostname: "10.9.9.9:80", use_post: true }'),
    ],
    [
      'cannot hash what HTTP says',
      '{ loadBalancer: { consistentHash: { httpHeaderName: x } } }',
      proxy(),
    ],
  ])('%s', (_, trafficPolicy, filters) => {
    expect(filtersOf(trafficPolicy)).toBe(canonical(`filters:${filters}`));
  });

  it('understand Mongo', () => {
    expect(filtersOf('', 'mongo')).toBe(
      canonical(`
filters:
  - name: envoy.filters.network.mongo_proxy
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy
      stat_prefix: outbound|90||a.mesh${proxy()}`),
    );
  });

  it('log if the mesh does', () => {
    expect(filtersOf('', 'tcp', 'accessLogFile: /dev/stdout')).toBe(
      canonical(`filters:${proxy('access_log: 1')}`),
    );
  });
});

it('a connection that nobody may make ends in a cluster without endpoints', () => {
  expect(messageYaml(FilterChainSchema, { filters: [blackHole] })).toBe(
    canonical(`
filters:
  - name: envoy.filters.network.tcp_proxy
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: BlackHoleCluster
      cluster: BlackHoleCluster`),
  );
});
