import type { ConnectionPool, RetryBudget } from '../../istio/traffic/destination-rule.ts';
import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { ClusterSchema } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { Http2ProtocolOptionsSchema } from '../../../shared/proto/envoy/config/core/v3/protocol_pb.ts';
import { HttpProtocolOptionsSchema } from '../../../shared/proto/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { packed, type Init } from '../encoding/typed-config.ts';
import { isHttp2 } from '../../istio/fields/is-http.ts';

type Cluster = Init<typeof ClusterSchema>;
type HttpProtocolOptions = Init<typeof HttpProtocolOptionsSchema>;

/**
 * The HTTP version of a cluster. `unsaid`: no version is configured, so HTTP requests use HTTP/1.1.
 */
export type UpstreamHttp = 'unsaid' | 'http1' | 'http2' | 'as-downstream';

/** The limit of a threshold that is not configured: Istio sets none of its own. */
const unlimited = 0xffff_ffff;

/**
 * Returns the settings of connections in a pool: the connect timeout, the limits, and keepalive.
 *
 * @param budget if there is one, Envoy ignores `maxRetries`
 */
export function connectionSettings(
  mesh: MeshConfig,
  pool: ConnectionPool | undefined,
  budget?: RetryBudget,
): Cluster {
  const keepalive = pool?.tcp.tcpKeepalive;
  return {
    connectTimeout: protoDuration(pool?.tcp.connectTimeoutMs ?? mesh.connectTimeoutMs),
    circuitBreakers: {
      thresholds: [
        {
          maxConnections: limit(pool?.tcp.maxConnections),
          maxPendingRequests: limit(pool?.http.http1MaxPendingRequests),
          maxRequests: limit(pool?.http.http2MaxRequests),
          maxRetries: limit(pool?.http.maxRetries),
          trackRemaining: true,
          ...(budget !== undefined && {
            retryBudget: {
              budgetPercent: { value: budget.percent },
              minRetryConcurrency: budget.least,
            },
          }),
        },
      ],
    },
    ...(keepalive !== undefined && {
      upstreamConnectionOptions: {
        tcpKeepalive: {
          ...(isSet(keepalive.probes) && { keepaliveProbes: keepalive.probes }),
          ...(keepalive.timeMs !== undefined && {
            keepaliveTime: Math.trunc(keepalive.timeMs / 1000),
          }),
          ...(keepalive.intervalMs !== undefined && {
            keepaliveInterval: Math.trunc(keepalive.intervalMs / 1000),
          }),
        },
      },
    }),
  };
}

/** Returns the HTTP version that a pool configures, else that of the protocol of the port. */
export function upstreamHttpOf(
  protocol: Protocol,
  pool: ConnectionPool | undefined,
  role: ProxyNode['role'],
): UpstreamHttp {
  if (pool?.http.useClientProtocol === true) return 'as-downstream';
  if (pool?.http.h2UpgradePolicy === 'upgrade') return 'http2';
  if (isHttp2(protocol)) return 'http2';
  // The protocol between a client and a gateway says nothing about the service.
  return protocol === 'auto' && role === 'sidecar' ? 'as-downstream' : 'unsaid';
}

/** Returns the HTTP options of a cluster; none if Envoy's defaults apply. */
export function httpOptions(
  http: UpstreamHttp,
  pool: ConnectionPool | undefined,
  names?: { readonly autoSni: boolean; readonly autoSanValidation: boolean },
): Cluster {
  const common = commonOptions(pool);
  if (http === 'unsaid' && common === undefined && names === undefined) return {};
  return protocolOptions({
    ...(common !== undefined && { commonHttpProtocolOptions: common }),
    ...(names !== undefined && { upstreamHttpProtocolOptions: names }),
    upstreamProtocolOptions: versionOptions(http, pool),
  });
}

/** Returns the fields of a cluster that has HTTP options. */
export function protocolOptions(options: HttpProtocolOptions): Cluster {
  const name = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  return { typedExtensionProtocolOptions: { [name]: packed(HttpProtocolOptionsSchema, options) } };
}

/** Allows both versions; the upstream connection uses that of the client. */
export const asDownstream = {
  case: 'useDownstreamProtocolConfig',
  value: { httpProtocolOptions: {}, http2ProtocolOptions: {} },
} as const;

/** Returns the PING frames of a pool, as a part of the options of HTTP/2. */
function pings(
  pool: ConnectionPool | undefined,
): Pick<Init<typeof Http2ProtocolOptionsSchema>, 'connectionKeepalive'> {
  const keepAlive = pool?.http.http2KeepAlive;
  if (keepAlive === undefined) return {};
  const { intervalMs, timeoutMs } = keepAlive;
  return {
    connectionKeepalive: {
      interval: protoDuration(intervalMs),
      timeout: protoDuration(timeoutMs),
    },
  };
}

function versionOptions(
  http: UpstreamHttp,
  pool: ConnectionPool | undefined,
): NonNullable<HttpProtocolOptions['upstreamProtocolOptions']> {
  if (http === 'as-downstream')
    return {
      ...asDownstream,
      value: { ...asDownstream.value, http2ProtocolOptions: pings(pool) },
    };
  if (http !== 'http2')
    return {
      case: 'explicitHttpConfig',
      value: { protocolConfig: { case: 'httpProtocolOptions', value: {} } },
    };
  // As in Istio, an upgrade sets no limit of streams.
  const streams =
    pool?.http.h2UpgradePolicy === 'upgrade' ? undefined : pool?.http.maxConcurrentStreams;
  const value = { ...(isSet(streams) && { maxConcurrentStreams: streams }), ...pings(pool) };
  return {
    case: 'explicitHttpConfig',
    value: { protocolConfig: { case: 'http2ProtocolOptions', value } },
  };
}

function commonOptions(
  pool: ConnectionPool | undefined,
): HttpProtocolOptions['commonHttpProtocolOptions'] {
  if (pool === undefined) return undefined;
  const { tcp, http } = pool;
  const idle = http.idleTimeoutMs ?? tcp.idleTimeoutMs;
  const options = {
    ...(idle !== undefined && { idleTimeout: protoDuration(idle) }),
    ...(tcp.maxConnectionDurationMs !== undefined && {
      maxConnectionDuration: protoDuration(tcp.maxConnectionDurationMs),
    }),
    ...(isSet(http.maxRequestsPerConnection) && {
      maxRequestsPerConnection: http.maxRequestsPerConnection,
    }),
  };
  return Object.keys(options).length > 0 || isSet(http.maxConcurrentStreams) ? options : undefined;
}

const isSet = (value: number | undefined): value is number => value !== undefined && value > 0;

const limit = (value: number | undefined): number => (isSet(value) ? value : unlimited);
