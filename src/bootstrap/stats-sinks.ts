import type { ProxyConfig } from '../config/proxy-config.ts';
import { isIpAddress } from '../node/is-ip-address.ts';
import type { Findings } from './findings.ts';
import type { Json } from './json.ts';
import { socketAddress } from './socket-address.ts';
import { typedConfig } from './typed-config.ts';

/** Where Envoy sends its statistics: the metrics service, then statsd. Envoy takes no name for the latter. Pure. */
export function statsSinks(
  { envoyMetricsService, statsdUdpAddress }: Pick<ProxyConfig, 'envoyMetricsService' | 'statsdUdpAddress'>,
  { problems }: Pick<Findings, 'problems'>,
): readonly Json[] {
  const metrics = typedConfig('config.metrics.v3.MetricsServiceConfig', {
    transport_api_version: 'V3',
    grpc_service: { envoy_grpc: { cluster_name: 'envoy_metrics_service' } },
  });
  const address = socketAddress(statsdUdpAddress);
  const known = address !== undefined && isIpAddress(address.address);
  if (statsdUdpAddress !== '' && !known) problems.push({ place: 'statsdUdpAddress', text: `'${statsdUdpAddress}' is not ip:port` });
  return [
    ...(envoyMetricsService === undefined ? [] : [{ name: 'envoy.stat_sinks.metrics_service', typed_config: metrics }]),
    ...(known
      ? [{ name: 'envoy.stat_sinks.statsd', typed_config: typedConfig('config.metrics.v3.StatsdSink', { address: { socket_address: { ...address } } }) }] // prettier-ignore
      : []),
  ];
}
