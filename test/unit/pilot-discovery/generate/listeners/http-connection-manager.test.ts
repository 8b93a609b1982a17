import { describe, expect, it } from 'vitest';
import {
  inboundManager,
  outboundManager,
} from '../../../../../src/pilot-discovery/generate/listeners/http-connection-manager.ts';
import type { Protocol } from '../../../../../src/pilot-discovery/istio/fields/values.ts';
import { FilterChainSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { canonical, messageYaml, noReporting, proxyIn } from '../../../../support/golden.ts';

const type = 'type.googleapis.com/envoy.extensions.filters';
const grpcWeb = `
      - { name: envoy.filters.http.grpc_web, typed_config: { "@type": ${type}.http.grpc_web.v3.GrpcWeb } }`;

/**
 * Returns a connection manager: the part that all have, and `special`. Spans have their own test.
 */
const manager = (special: string, further = '') => `
filters:
  - name: envoy.filters.network.http_connection_manager
    typed_config:
      "@type": ${type}.network.http_connection_manager.v3.HttpConnectionManager
      http_filters:${further}
      - name: envoy.filters.http.grpc_stats
        typed_config: { "@type": ${type}.http.grpc_stats.v3.FilterConfig, emit_filter_state: true, stats_for_all_methods: false }
      - { name: envoy.filters.http.fault, typed_config: { "@type": ${type}.http.fault.v3.HTTPFault } }
      - { name: envoy.filters.http.cors, typed_config: { "@type": ${type}.http.cors.v3.Cors } }
      - { name: envoy.filters.http.router, typed_config: { "@type": ${type}.http.router.v3.Router } }
      stream_idle_timeout: 0s
      use_remote_address: false
      proxy_100_continue: true
      upgrade_configs: [{ upgrade_type: websocket }]
      normalize_path: true
      path_with_escaped_slashes_action: KEEP_UNCHANGED
      request_id_extension:
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig
          use_request_id_for_trace_sampling: true
      ${special.trim().replaceAll('\n', '\n      ')}`;
const printed = (filter: ReturnType<typeof outboundManager>): string =>
  messageYaml(FilterChainSchema, { filters: [filter] });

describe('a connection manager for what the application calls', () => {
  const routeQuestion = `
stat_prefix: outbound_0.0.0.0_80;
rds:
  route_config_name: "80"
  config_source: { ads: {}, initial_fetch_timeout: 0s, resource_api_version: V3 }`;
  const outboundYaml = (protocol: Protocol, metadata = '') =>
    printed(
      outboundManager(noReporting, proxyIn(metadata), new Map(), '0.0.0.0_80', {
        routeName: '80',
        protocol,
      }),
    );

  it('asks for its routes', () => {
    expect(outboundYaml('http')).toBe(canonical(manager(routeQuestion)));
    expect(outboundYaml('http2')).toBe(canonical(manager(routeQuestion)));
  });

  it('understands gRPC-Web', () => {
    expect(outboundYaml('grpc-web')).toBe(canonical(manager(routeQuestion, grpcWeb)));
  });

  it('takes HTTP/1.0 if the proxy says so', () => {
    expect(outboundYaml('http', 'HTTP10: "1"')).toBe(
      canonical(manager(`${routeQuestion}\nhttp_protocol_options: { accept_http_10: true }`)),
    );
  });
});

describe('a connection manager for what calls the application', () => {
  const given = `
stat_prefix: inbound_0.0.0.0_8080;
route_config: { name: inbound|8080|| }
server_name: istio-envoy
forward_client_cert_details: APPEND_FORWARD
set_current_client_cert_details: { subject: true, dns: true, uri: true }`;

  it.each<[protocol: Protocol, special: string, further: string]>([
    ['http', given, ''],
    ['auto', given, ''],
    ['http2', `${given}\nhttp2_protocol_options: {}`, ''],
    ['grpc', `${given}\nhttp2_protocol_options: {}`, ''],
    ['grpc-web', `${given}\nhttp2_protocol_options: {}`, grpcWeb],
  ])('has its route and says who called: %s', (protocol, special, further) => {
    const filter = inboundManager(
      noReporting,
      proxyIn(''),
      [],
      { statPrefix: 'inbound_0.0.0.0_8080;', protocol },
      { name: 'inbound|8080||' },
    );
    expect(printed(filter)).toBe(canonical(manager(special, further)));
  });
});
