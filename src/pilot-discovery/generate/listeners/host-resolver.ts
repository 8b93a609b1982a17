import { FilterConfigSchema as HttpFilterSchema } from '../../../shared/proto/envoy/extensions/filters/http/dynamic_forward_proxy/v3/dynamic_forward_proxy_pb.ts';
import { FilterConfigSchema as SniFilterSchema } from '../../../shared/proto/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy_pb.ts';
import { dnsCache } from '../encoding/dns-settings.ts';
import { typedConfig, type TypedConfig } from '../encoding/typed-config.ts';
import type { ConnectionCluster } from '../scope/connection-clusters.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { anyDynamicDns, isDynamicDns } from '../scope/resolution.ts';
import type { Services } from '../scope/visible-services.ts';

/**
 * Returns the filter that resolves the `Host` of requests to services with DYNAMIC_DNS; none if no
 * service has it. It passes on requests to other clusters.
 */
export const hostResolver = (
  { addresses }: ProxyNode,
  services: Services,
): readonly TypedConfig[] =>
  anyDynamicDns(services)
    ? [
        typedConfig('envoy.filters.http.dynamic_forward_proxy', HttpFilterSchema, {
          implementationSpecifier: { case: 'dnsCacheConfig', value: dnsCache(addresses) },
        }),
      ]
    : [];

/**
 * Returns the filter that resolves the server name (SNI) of TLS connections to a service with
 * DYNAMIC_DNS; none if no destination is one.
 */
export function serverNameResolver(
  { addresses }: ProxyNode,
  services: Services,
  destinations: readonly ConnectionCluster[],
): readonly TypedConfig[] {
  const destination = destinations.find(({ host }) => {
    const service = services.get(host);
    return service !== undefined && isDynamicDns(service);
  });
  if (destination === undefined) return [];
  const { host, port } = destination;
  const targetPort = services.get(host)?.ports.find(({ number }) => number === port)?.targetPort;
  return [
    typedConfig('envoy.filters.network.sni_dynamic_forward_proxy', SniFilterSchema, {
      dnsCacheConfig: dnsCache(addresses),
      portSpecifier: { case: 'portValue', value: targetPort ?? port },
    }),
  ];
}
