import type { ProxyProtocol } from '../../istio/traffic/destination-rule.ts';
import type { ClusterSchema } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ProxyProtocolConfig_Version as Version } from '../../../shared/proto/envoy/config/core/v3/proxy_protocol_pb.ts';
import { ProxyProtocolUpstreamTransportSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol_pb.ts';
import { RawBufferSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer_pb.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';

type Cluster = Init<typeof ClusterSchema>;

/** The sockets of a cluster: one, or one for each kind of endpoint; none for plain text. */
type Sockets = Pick<Cluster, 'transportSocket' | 'transportSocketMatches'>;

const versions = { V1: Version.V1, V2: Version.V2 } as const;

/**
 * Writes the address of the client at the beginning of each connection of a cluster, before its TLS
 * if it has any.
 */
export function withProxyProtocol(sockets: Sockets, protocol: ProxyProtocol): Sockets {
  const wrapped = (transportSocket: Cluster['transportSocket']): TypedConfig =>
    typedConfig(
      'envoy.transport_sockets.upstream_proxy_protocol',
      ProxyProtocolUpstreamTransportSchema,
      {
        config: { version: versions[protocol] },
        ...(transportSocket !== undefined && { transportSocket }),
      },
    );
  const { transportSocket, transportSocketMatches: matches } = sockets;
  if (matches !== undefined)
    return {
      transportSocketMatches: matches.map(({ name = '', match = {}, transportSocket: inner }) => ({
        name,
        match,
        transportSocket: wrapped(inner),
      })),
    };
  return { transportSocket: wrapped(transportSocket ?? plain) };
}

const plain = typedConfig('raw_buffer', RawBufferSchema);
