import type { ResourceKey } from '../../istio/documents/model.ts';
import type { FilterChainSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import type { Environment } from '../../environment/environment.ts';
import type { Init } from '../encoding/typed-config.ts';
import type { ConnectionCluster } from '../scope/connection-clusters.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import type { MergedServer } from '../scope/merged-gateway.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sniDestinations } from '../scope/sni-destinations.ts';
import { visibleServices, type VisibleService } from '../scope/visible-services.ts';
import { meshProtocols } from './inbound-chains.ts';
import type { Reporting } from './reporting.ts';
import { tcpProxy } from './tcp-chain.ts';

interface Destination extends ConnectionCluster {
  readonly service: VisibleService;
  readonly rule: MatchedRule | undefined;
}

/**
 * Returns a chain for each cluster to which a server with AUTO_PASSTHROUGH passes connections of
 * clients in the mesh. Envoy's filter `sni_cluster` is not used: it leads to any cluster whose name
 * a client sends. As in istiod, no policy applies there: the workload that terminates the TLS
 * decides.
 */
export const sniChains = (
  environment: Environment,
  node: ProxyNode,
  reporting: Reporting,
  server: MergedServer,
): readonly Init<typeof FilterChainSchema>[] =>
  destinationsAt(environment, node, server).map(({ cluster, subset, rule }) => {
    const whole = rule?.spec.trafficPolicy;
    const subsetPolicy = rule?.spec.subsets.find(({ name }) => name === subset)?.trafficPolicy;
    const policy = {
      connectionPool: whole?.connectionPool,
      loadBalancer: subsetPolicy?.loadBalancer ?? whole?.loadBalancer,
      // A tunnel would begin inside of the client's TLS.
      tunnel: undefined,
    };
    return {
      filterChainMatch: { serverNames: [cluster], applicationProtocols: [...meshProtocols] },
      filters: [tcpProxy(reporting, cluster, policy)],
    };
  });

/** Returns the keys of the resources from which the chains of a server are made. */
export const keysOfSniChains = (
  environment: Environment,
  node: ProxyNode,
  server: MergedServer,
): readonly ResourceKey[] =>
  destinationsAt(environment, node, server).flatMap(({ service, rule }) => [
    service.key,
    ...(rule?.keys ?? []),
  ]);

function destinationsAt(
  environment: Environment,
  node: ProxyNode,
  server: MergedServer,
): readonly Destination[] {
  const services = visibleServices(environment, node);
  const destinations = sniDestinations(environment, node, services).get(server) ?? [];
  return destinations.flatMap((destination) => {
    const service = services.get(destination.host);
    if (service === undefined) return [];
    return [{ ...destination, service, rule: destinationRuleOf(environment, node, service) }];
  });
}
