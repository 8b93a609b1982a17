import type { ProxyConfig } from '../config/proxy-config.ts';
import { isIpAddress } from '../node/is-ip-address.ts';
import type { Json } from './json.ts';
import { protoDuration } from './proto-duration.ts';
import type { SocketAddress } from './socket-address.ts';
import { typedConfig } from './typed-config.ts';

export interface RemoteCluster {
  readonly name: string;
  readonly address: SocketAddress;
  readonly http2: boolean;
  /** An `UpstreamTlsContext`; without it the cluster speaks plaintext. */
  readonly tls: Readonly<Record<string, Json>> | undefined;
  /** The rest of the cluster. */
  readonly more?: Readonly<Record<string, Json>>;
  /** One connection carries so many requests. */
  readonly requestsPerConnection?: number;
  /** A name is looked up when its DNS record has expired, not each `dnsRefreshRate`. */
  readonly respectTtl?: boolean;
}

/** Envoy refuses to look names up as often as each millisecond. In ms. */
const fastestRefresh = 2;
/** A lookup that failed is tried again after 1 to 5 s: with `dnsRefreshRate` alone a proxy that is up before its DNS waits for minutes. */
const afterFailure = { base_interval: '1s', max_interval: '5s' };

/** A cluster of one endpoint elsewhere: looked up again and again, or fixed if it is an address already. Pure. */
export function remoteCluster(
  { name, address, http2, tls, more, requestsPerConnection, respectTtl = false }: RemoteCluster,
  { connectTimeout, dnsRefreshRate }: Pick<ProxyConfig, 'connectTimeout' | 'dnsRefreshRate'>,
  ipv6: boolean,
): Json {
  const options = {
    common_http_protocol_options: requestsPerConnection === undefined ? undefined : { max_requests_per_connection: requestsPerConnection },
    explicit_http_config: { http2_protocol_options: {} },
  };
  return {
    name,
    connect_timeout: protoDuration(connectTimeout),
    ...(isIpAddress(address.address)
      ? { type: 'STATIC' }
      : {
          cluster_type: {
            name: 'envoy.cluster.dns',
            typed_config: typedConfig('extensions.clusters.dns.v3.DnsCluster', {
              dns_lookup_family: ipv6 ? 'AUTO' : 'V4_ONLY',
              dns_refresh_rate: dnsRefreshRate > 0 ? protoDuration(Math.max(dnsRefreshRate, fastestRefresh)) : undefined,
              dns_failure_refresh_rate: afterFailure,
              respect_dns_ttl: respectTtl ? true : undefined,
            }),
          },
        }),
    lb_policy: 'ROUND_ROBIN',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { ...address } } } }] }],
    },
    typed_extension_protocol_options: http2
      ? { 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typedConfig('extensions.upstreams.http.v3.HttpProtocolOptions', options) } // prettier-ignore
      : undefined,
    transport_socket:
      tls === undefined
        ? undefined
        : { name: 'envoy.transport_sockets.tls', typed_config: typedConfig('extensions.transport_sockets.tls.v3.UpstreamTlsContext', tls) }, // prettier-ignore
    ...more,
  };
}
