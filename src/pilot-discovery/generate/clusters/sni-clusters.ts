import type { Subset } from '../../istio/traffic/destination-rule.ts';
import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import { ClusterSchema } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import { endpointsWith } from '../endpoints/load-assignment.ts';
import { balancing } from '../endpoints/load-balancing.ts';
import { visibleTo } from '../endpoints/network-gateways.ts';
import { outboundSni } from '../scope/cluster-name.ts';
import { isDns } from '../scope/resolution.ts';
import { policyFor } from '../scope/traffic-policy.ts';
import { mutualTlsMark } from '../tls/mutual-tls-mark.ts';
import { clusterMetadata, isOriginated } from './cluster-metadata.ts';
import { connectionSettings, httpOptions, upstreamHttpOf } from './connection-pool.ts';
import { outboundDiscovery, type OutboundInputs } from './outbound-discovery.ts';

/**
 * Returns the cluster to which a gateway passes connections whose server name is that of the
 * cluster. The client has encrypted them, so the cluster adds no TLS, and it has only endpoints
 * that support mutual TLS. Undefined if DNS would resolve the endpoints, but there are none.
 */
export function sniCluster(
  { environment, node, service, rule, ...inputs }: OutboundInputs,
  port: ServicePort,
  subset: Subset | undefined,
): XdsResource | undefined {
  const subsetName = subset?.name ?? '';
  const name = outboundSni({ port: port.number, subset: subsetName, host: service.host });
  const policy = policyFor(rule?.spec, port.number, subsetName);
  const pool = policy.connectionPool;
  const isMutual = mutualTlsMark(environment, rule, port.number, subset);
  const endpoints = endpointsWith(
    visibleTo(environment, node, inputs.endpoints.get(port.number) ?? []),
    subset?.labels ?? {},
  ).filter(isMutual);
  const discovery = outboundDiscovery(
    { environment, service, node },
    name,
    port,
    policy,
    endpoints,
    isMutual,
  );
  if (discovery === undefined) return undefined;
  return encodeResource(
    ClusterSchema,
    name,
    {
      name,
      altStatName: `${name};`,
      ...connectionSettings(environment.mesh, pool),
      ...balancing(policy, service.trafficDistribution, environment.mesh),
      ...discovery,
      ...httpOptions(upstreamHttpOf(port.protocol, pool, node.role), pool),
      metadata: clusterMetadata({
        rule,
        services: [service],
        subset: subsetName,
        isOriginated: isOriginated(policy),
      }),
    },
    [
      service.key,
      ...(rule?.keys ?? []),
      ...(isDns(service) ? endpoints.map(({ key }) => key) : []),
    ],
  );
}
