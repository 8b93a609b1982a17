import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  connectionSettings,
  httpOptions,
  upstreamHttpOf,
} from '../../../../../src/pilot-discovery/generate/clusters/connection-pool.ts';
import type { Protocol } from '../../../../../src/pilot-discovery/istio/fields/values.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { canonical, meshIn, messageYaml, specIn } from '../../../../support/golden.ts';

/** Returns the connectionPool of a DestinationRule; undefined if there is none. */
const poolIn = (yaml: string) =>
  yaml === ''
    ? undefined
    : specIn('DestinationRule', `{ host: a.mesh, trafficPolicy: { connectionPool: ${yaml} } }`)
        .trafficPolicy?.connectionPool;

const limits = (fields: Readonly<Record<string, number>> = {}): string => {
  const most = 4_294_967_295;
  const all = {
    max_connections: most,
    max_pending_requests: most,
    max_requests: most,
    max_retries: most,
    track_remaining: true,
    ...fields,
  };
  return `\ncircuit_breakers: { thresholds: [${JSON.stringify(all)}] }`;
};

describe('what a connectionPool says of the connections of a cluster', () => {
  it.each<[what: string, pool: string, cluster: string]>([
    ['no pool: no limits, and the time of the mesh', '', `connect_timeout: 10s${limits()}`],
    ['an empty pool', '{ tcp: {}, http: {} }', `connect_timeout: 10s${limits()}`],
    [
      'the time for a connection',
      '{ tcp: { connectTimeout: 1.5s } }',
      `connect_timeout: 1.500s${limits()}`,
    ],
    [
      'limits of TCP and of HTTP',
      '{ tcp: { maxConnections: 1 }, http: { http1MaxPendingRequests: 2, http2MaxRequests: 3, maxRetries: 4 } }',
      `connect_timeout: 10s${limits({ max_connections: 1, max_pending_requests: 2, max_requests: 3, max_retries: 4 })}`,
    ],
    [
      'limits of 0, which are none',
      '{ tcp: { maxConnections: 0 }, http: { http1MaxPendingRequests: 0, http2MaxRequests: 0, maxRetries: 0 } }',
      `connect_timeout: 10s${limits()}`,
    ],
    [
      'keepalive, in whole seconds',
      '{ tcp: { tcpKeepalive: { probes: 3, time: 7200.9s, interval: 75s } } }',
      `connect_timeout: 10s${limits()}
upstream_connection_options:
  tcp_keepalive: { keepalive_probes: 3, keepalive_time: 7200, keepalive_interval: 75 }`,
    ],
    [
      'keepalive as the machine has it',
      '{ tcp: { tcpKeepalive: {} } }',
      `connect_timeout: 10s${limits()}\nupstream_connection_options: { tcp_keepalive: {} }`,
    ],
  ])('%s', (_, pool, cluster) => {
    expect(messageYaml(ClusterSchema, connectionSettings(meshIn(''), poolIn(pool)))).toBe(
      canonical(cluster),
    );
  });

  it('has the time of the mesh', () => {
    expect(
      messageYaml(ClusterSchema, connectionSettings(meshIn('connectTimeout: 3s'), undefined)),
    ).toBe(canonical(`connect_timeout: 3s${limits()}`));
  });
});

describe('the HTTP of a cluster', () => {
  const http = (yaml: string) => `{ http: ${yaml} }`;
  const options = (yaml: string) => `
typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    ${yaml.trim().replaceAll('\n', '\n    ')}`;
  const http1 = 'explicit_http_config: { http_protocol_options: {} }';
  const http2 = 'explicit_http_config: { http2_protocol_options: {} }';
  const asCaller =
    'use_downstream_protocol_config: { http_protocol_options: {}, http2_protocol_options: {} }';

  it.each<[what: string, protocol: Protocol, pool: string, cluster: string]>([
    ['HTTP/1.1, as Envoy has it', 'http', '', '{}'],
    ['HTTP/2', 'http2', '', options(http2)],
    ['gRPC', 'grpc', '', options(http2)],
    ['gRPC-Web', 'grpc-web', '', options(http2)],
    ['what turns out: that of the caller', 'auto', '', options(asCaller)],
    ['TCP', 'tcp', '', '{}'],
    ['HTTP/1.1, upgraded', 'http', http('{ h2UpgradePolicy: UPGRADE }'), options(http2)],
    ['HTTP/1.1, not upgraded', 'http', http('{ h2UpgradePolicy: DO_NOT_UPGRADE }'), '{}'],
    [
      'HTTP/2 is not taken back',
      'http2',
      http('{ h2UpgradePolicy: DO_NOT_UPGRADE }'),
      options(http2),
    ],
    [
      'that of the caller, which comes before an upgrade',
      'http',
      http('{ useClientProtocol: true }'),
      options(asCaller),
    ],
    [
      'idle connections and requests of one connection',
      'http',
      http('{ idleTimeout: 90s, maxRequestsPerConnection: 5 }'),
      options(`
common_http_protocol_options: { idle_timeout: 90s, max_requests_per_connection: 5 }
${http1}`),
    ],
    [
      'the age and the idleness of connections of TCP',
      'http',
      '{ tcp: { idleTimeout: 60s, maxConnectionDuration: 600s } }',
      options(`
common_http_protocol_options: { idle_timeout: 60s, max_connection_duration: 600s }
${http1}`),
    ],
    [
      'the idleness of HTTP, which comes before that of TCP',
      'http',
      '{ tcp: { idleTimeout: 60s }, http: { idleTimeout: 90s } }',
      options(`common_http_protocol_options: { idle_timeout: 90s }\n${http1}`),
    ],
    [
      'streams of HTTP/2',
      'http2',
      http('{ maxConcurrentStreams: 7 }'),
      options(`
common_http_protocol_options: {}
explicit_http_config: { http2_protocol_options: { max_concurrent_streams: 7 } }`),
    ],
    [
      'PING frames of HTTP/2',
      'http2',
      http('{ http2KeepAlive: { interval: 30s, timeout: 500ms } }'),
      options(`explicit_http_config:
  http2_protocol_options: { connection_keepalive: { interval: 30s, timeout: 0.500s } }`),
    ],
    [
      'PING frames, if the caller speaks HTTP/2',
      'auto',
      http('{ http2KeepAlive: { interval: 30s, timeout: 5s } }'),
      options(`use_downstream_protocol_config:
  http_protocol_options: {}
  http2_protocol_options: { connection_keepalive: { interval: 30s, timeout: 5s } }`),
    ],
    [
      'HTTP/1.1, which has no PING frames',
      'http',
      http('{ http2KeepAlive: { interval: 30s, timeout: 5s } }'),
      '{}',
    ],
    [
      'streams, which an upgrade leaves as they are',
      'http',
      http('{ h2UpgradePolicy: UPGRADE, maxConcurrentStreams: 7 }'),
      options(`common_http_protocol_options: {}\n${http2}`),
    ],
  ])('%s', (_, protocol, pool, cluster) => {
    const read = poolIn(pool);
    expect(
      messageYaml(ClusterSchema, httpOptions(upstreamHttpOf(protocol, read, 'sidecar'), read)),
    ).toBe(canonical(cluster));
  });

  it('has the names of TLS that are taken from a request', () => {
    const names = { autoSni: true, autoSanValidation: false };
    expect(messageYaml(ClusterSchema, httpOptions('unsaid', undefined, names))).toBe(
      canonical(options(`upstream_http_protocol_options: { auto_sni: true }\n${http1}`)),
    );
  });
});

it('a retry budget is a share of the requests, and a number that is always allowed', () => {
  const cluster = connectionSettings(meshIn(''), undefined, { percent: 12.5, least: 7 });
  const { circuitBreakers } = create(ClusterSchema, cluster);
  expect(circuitBreakers?.thresholds[0]?.retryBudget).toMatchObject({
    budgetPercent: { value: 12.5 },
    minRetryConcurrency: 7,
  });
});
