import type { PortPolicy } from '../../istio/traffic/destination-rule.ts';
import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import {
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_LbPolicy as LbPolicy,
  type ClusterSchema,
} from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ApiVersion } from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import { ClusterConfigSchema } from '../../../shared/proto/envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster_pb.ts';
import type {
  Endpoint,
  Environment,
  Service,
  ServiceEndpoints,
} from '../../environment/environment.ts';
import { dnsCache, dnsFamily, dnsResolver } from '../encoding/dns-settings.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { packed, type Init } from '../encoding/typed-config.ts';
import { loadAssignment } from '../endpoints/load-assignment.ts';
import { isPassthrough } from '../endpoints/load-balancing.ts';
import { directly } from '../endpoints/network-gateways.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { localityPolicyOf } from '../scope/locality-policy.ts';
import { isDns, isDynamicDns, isEds } from '../scope/resolution.ts';
import type { Passage } from '../scope/sni-destinations.ts';
import type { MutualTlsMark } from '../tls/mutual-tls-mark.ts';

type Cluster = Init<typeof ClusterSchema>;

/** The inputs of the clusters of a service. */
export interface OutboundInputs {
  readonly environment: Environment;
  readonly node: ProxyNode;
  readonly service: Service;
  readonly rule: MatchedRule | undefined;
  readonly endpoints: ServiceEndpoints;
  readonly serviceMode: 'disable' | 'mutual';
  readonly accounts: readonly string[];
  readonly passage: Passage;
}

/** Returns how a cluster finds its endpoints; undefined if DNS has none to resolve. */
export function outboundDiscovery(
  { environment, service, node }: Pick<OutboundInputs, 'environment' | 'service' | 'node'>,
  name: string,
  { targetPort }: ServicePort,
  policy: PortPolicy,
  endpoints: readonly Endpoint[],
  mark: MutualTlsMark,
): Cluster | undefined {
  if (policy.tls?.mode === 'closed') {
    return {
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
      loadAssignment: { clusterName: name },
      // Envoy NACKs a static cluster whose balancer is that of original destinations.
      ...(isPassthrough(policy) && { lbPolicy: LbPolicy.LEAST_REQUEST }),
    };
  }
  if (isDynamicDns(service) && !isPassthrough(policy)) return byNameOfCall(node);
  const dns = isDns(service) ? dnsSettings(node) : {};
  if (isPassthrough(policy) || (!isEds(service, node) && !isDns(service))) {
    return {
      ...dns,
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.ORIGINAL_DST },
      lbPolicy: LbPolicy.CLUSTER_PROVIDED,
      // The port of the original destination is that of the service.
      lbConfig:
        service.resolution === 'none' && !isEds(service, node) && targetPort !== undefined
          ? atPort(targetPort)
          : none,
    };
  }
  if (isEds(service, node)) {
    return {
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.EDS },
      edsClusterConfig: {
        serviceName: name,
        edsConfig: {
          configSourceSpecifier: { case: 'ads', value: {} },
          initialFetchTimeout: {},
          resourceApiVersion: ApiVersion.V3,
        },
      },
    };
  }
  if (endpoints.length === 0) return undefined;
  const [value, used] =
    service.resolution === 'dns'
      ? [DiscoveryType.STRICT_DNS, endpoints]
      : [DiscoveryType.LOGICAL_DNS, endpoints.slice(0, 1)]; // Envoy uses only one
  return {
    ...dns,
    clusterDiscoveryType: { case: 'type', value },
    loadAssignment: loadAssignment(
      name,
      used,
      localityPolicyOf(policy, service.trafficDistribution, environment.mesh),
      node,
      {
        isMutual: mark,
        reach: directly,
      },
    ),
  };
}

const none = { case: undefined } as const;
const atPort = (upstreamPortOverride: number) =>
  ({ case: 'originalDstLbConfig', value: { upstreamPortOverride } }) as const;

/**
 * A cluster that sends each call to the host that the call names. A filter has resolved that host
 * first.
 */
const byNameOfCall = ({ addresses }: ProxyNode): Cluster => ({
  clusterDiscoveryType: {
    case: 'clusterType',
    value: {
      name: 'envoy.clusters.dynamic_forward_proxy',
      typedConfig: packed(ClusterConfigSchema, {
        clusterImplementationSpecifier: { case: 'dnsCacheConfig', value: dnsCache(addresses) },
        // A rule may set the server name, or not verify the certificate.
        allowInsecureClusterOptions: true,
      }),
    },
  },
  lbPolicy: LbPolicy.CLUSTER_PROVIDED,
  lbConfig: none,
});

const dnsSettings = ({ addresses }: ProxyNode): Cluster => ({
  dnsRefreshRate: protoDuration(60_000),
  respectDnsTtl: true,
  dnsLookupFamily: dnsFamily(addresses),
  typedDnsResolverConfig: dnsResolver(),
});
