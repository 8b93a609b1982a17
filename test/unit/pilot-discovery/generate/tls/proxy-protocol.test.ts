import { describe, expect, it } from 'vitest';
import { withProxyProtocol } from '../../../../../src/pilot-discovery/generate/tls/proxy-protocol.ts';
import { typedConfig } from '../../../../../src/pilot-discovery/generate/encoding/typed-config.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { UpstreamTlsContextSchema } from '../../../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

const type = (name: string) =>
  `"@type": type.googleapis.com/envoy.extensions.transport_sockets.${name}`;
const wrapped = (socket: string, version = '') => `
name: envoy.transport_sockets.upstream_proxy_protocol
typed_config:
  ${type('proxy_protocol.v3.ProxyProtocolUpstreamTransport')}
  config: {${version}}
  transport_socket: ${socket}`;
const indented = (text: string) => text.replaceAll('\n', '\n  ');
const tls = typedConfig('envoy.transport_sockets.tls', UpstreamTlsContextSchema, { sni: 'a' });
const ofTls = `{ name: envoy.transport_sockets.tls, typed_config: { ${type('tls.v3.UpstreamTlsContext')}, sni: a } }`;

describe('the PROXY protocol of a cluster', () => {
  it.each([
    [
      'is before plain text',
      withProxyProtocol({}, 'V1'),
      `transport_socket: ${indented(wrapped(`{ name: raw_buffer, typed_config: { ${type('raw_buffer.v3.RawBuffer')} } }`))}`,
    ],
    [
      'is before TLS, in its version',
      withProxyProtocol({ transportSocket: tls }, 'V2'),
      `transport_socket: ${indented(wrapped(ofTls, ' version: V2 '))}`,
    ],
    [
      'is in the socket for each kind of endpoint',
      withProxyProtocol(
        { transportSocketMatches: [{ name: 'tlsMode-istio', match: {}, transportSocket: tls }] },
        'V1',
      ),
      `transport_socket_matches:
  - name: tlsMode-istio
    match: {}
    transport_socket: ${indented(indented(indented(wrapped(ofTls))))}`,
    ],
  ])('%s', (_, cluster, expected) => {
    expect(messageYaml(ClusterSchema, cluster)).toBe(canonical(expected));
  });
});
