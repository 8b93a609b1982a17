import type { TrafficPolicy, Tunnel } from '../../istio/traffic/destination-rule.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import { MongoProxySchema } from '../../../shared/proto/envoy/extensions/filters/network/mongo_proxy/v3/mongo_proxy_pb.ts';
import { TcpProxySchema } from '../../../shared/proto/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts';
import type { Reporting } from './reporting.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { typedConfig, type TypedConfig } from '../encoding/typed-config.ts';

const tcpProxyName = 'envoy.filters.network.tcp_proxy';

/** The destination of connections: one cluster, or several by weight. */
type Target =
  | string
  | {
      readonly statPrefix: string;
      readonly clusters: readonly { readonly name: string; readonly weight: number }[];
    };

/** The TCP settings of a DestinationRule. */
type TcpPolicy = Pick<TrafficPolicy, 'connectionPool' | 'loadBalancer' | 'tunnel'>;

/** Returns the filter that forwards a connection to a cluster, and logs it. */
export function tcpProxy(
  { accessLog }: Pick<Reporting, 'accessLog'>,
  target: Target,
  policy?: TcpPolicy,
): TypedConfig {
  const { idleTimeoutMs, maxConnectionDurationMs } = policy?.connectionPool?.tcp ?? {};
  const balancer = policy?.loadBalancer?.policy;
  return typedConfig(tcpProxyName, TcpProxySchema, {
    statPrefix: statPrefixOf(target),
    clusterSpecifier:
      typeof target === 'string'
        ? { case: 'cluster', value: target }
        : { case: 'weightedClusters', value: { clusters: [...target.clusters] } },
    accessLog,
    ...(idleTimeoutMs !== undefined && { idleTimeout: protoDuration(idleTimeoutMs) }),
    ...(maxConnectionDurationMs !== undefined && {
      maxDownstreamConnectionDuration: protoDuration(maxConnectionDurationMs),
    }),
    ...(policy?.tunnel !== undefined && { tunnelingConfig: tunneling(policy.tunnel) }),
    ...(balancer?.type === 'consistent-hash' &&
      balancer.key.type === 'source-ip' && {
        hashPolicy: [{ policySpecifier: { case: 'sourceIp', value: {} } }],
      }),
  });
}

const tunneling = ({ method, targetHost, targetPort }: Tunnel) => ({
  hostname: `${targetHost}:${targetPort}`,
  usePost: method === 'POST',
});

/**
 * Returns the filters of a TCP chain: the filter of its protocol, if there is one, then the proxy.
 */
export function tcpFilters(
  reporting: Pick<Reporting, 'accessLog'>,
  target: Target,
  protocol: Protocol,
  policy?: TcpPolicy,
): TypedConfig[] {
  const proxy = tcpProxy(reporting, target, policy);
  if (protocol !== 'mongo') return [proxy];
  return [
    typedConfig('envoy.filters.network.mongo_proxy', MongoProxySchema, {
      statPrefix: statPrefixOf(target),
    }),
    proxy,
  ];
}

const statPrefixOf = (target: Target): string =>
  typeof target === 'string' ? target : target.statPrefix;

/** Closes connections that are not allowed, without a log entry. */
export const blackHole: TypedConfig = typedConfig(tcpProxyName, TcpProxySchema, {
  statPrefix: 'BlackHoleCluster',
  clusterSpecifier: { case: 'cluster', value: 'BlackHoleCluster' },
});
