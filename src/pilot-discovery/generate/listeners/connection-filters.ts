import type { Resource } from '../../istio/documents/model.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import type { Environment } from '../../environment/environment.ts';
import type { TypedConfig } from '../encoding/typed-config.ts';
import type { ConnectionCluster } from '../scope/connection-clusters.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { Services } from '../scope/visible-services.ts';
import { serverNameResolver } from './host-resolver.ts';
import type { Reporting } from './reporting.ts';
import { blackHole, tcpFilters } from './tcp-chain.ts';

/** The destinations of connections, and the VirtualService that names them. */
interface Route {
  readonly rule: Pick<Resource<'VirtualService'>, 'name' | 'namespace'> | undefined;
  readonly to: readonly ConnectionCluster[];
  readonly protocol: Protocol;
}

/** The services and the reports that all chains of a proxy share. */
export interface ChainScope {
  /** The services that have a DestinationRule for the proxy. */
  readonly services: Services;
  readonly reporting: Reporting;
}

/** Returns the filters that forward connections to one cluster, or by weight to several. */
export function connectionFilters(
  environment: Environment,
  node: ProxyNode,
  { services, reporting }: ChainScope,
  { rule, to, protocol }: Route,
): TypedConfig[] {
  const [first, ...others] = to;
  if (first === undefined) return [blackHole];
  const spec = ruleOfDestination(environment, node, services, first)?.spec;
  const whole = spec?.trafficPolicy;
  const resolver = serverNameResolver(node, services, to);
  if (others.length === 0) {
    const subsetPolicy = spec?.subsets.find(({ name }) => name === first.subset)?.trafficPolicy;
    return [
      ...resolver,
      ...tcpFilters(reporting, first.cluster, protocol, {
        connectionPool: whole?.connectionPool,
        loadBalancer: subsetPolicy?.loadBalancer ?? whole?.loadBalancer,
        tunnel: subsetPolicy?.tunnel ?? whole?.tunnel,
      }),
    ];
  }
  const target = {
    statPrefix: rule === undefined ? first.cluster : `${rule.name}.${rule.namespace}`,
    clusters: to
      .filter(({ weight }) => weight > 0)
      .map(({ cluster, weight }) => ({ name: cluster, weight })),
  };
  return [...resolver, ...tcpFilters(reporting, target, protocol, whole)];
}

/** Returns the DestinationRule for the filters of a chain: that of its first destination. */
export function ruleOfConnections(
  environment: Environment,
  node: ProxyNode,
  services: Services,
  { to: [first] }: Pick<Route, 'to'>,
): MatchedRule | undefined {
  return first && ruleOfDestination(environment, node, services, first);
}

function ruleOfDestination(
  environment: Environment,
  node: ProxyNode,
  services: Services,
  { host }: ConnectionCluster,
): MatchedRule | undefined {
  const service = services.get(host);
  return service && destinationRuleOf(environment, node, service);
}
