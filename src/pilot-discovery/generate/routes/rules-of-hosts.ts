import type { DestinationRule } from '../../istio/destination-rule.ts';
import type { Resource } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { VisibleService } from '../scope/visible-services.ts';

/** Returns the DestinationRule of a host. */
export type RulesOf = (host: string) => MatchedRule | undefined;

/** Returns a lookup of DestinationRules that remembers the rule of each host. */
export function rulesOfHosts(
  environment: Environment,
  node: ProxyNode,
  services: ReadonlyMap<string, VisibleService>,
): RulesOf {
  const found = new Map<string, MatchedRule | undefined>();
  return (host) => {
    if (found.has(host)) return found.get(host);
    const service = services.get(host);
    const rule = service === undefined ? undefined : destinationRuleOf(environment, node, service);
    found.set(host, rule);
    return rule;
  };
}

/** Represents a destination whose rule has no hash. */
export const noRule: Pick<MatchedRule, 'keys'> = { keys: [] };

/** Returns the DestinationRule that affects the routes of a rule, for each of its destinations. */
export function hashingRules(
  rule: Resource<'VirtualService'>,
  rulesOf: RulesOf,
): readonly Pick<MatchedRule, 'keys'>[] {
  const destinations = rule.spec.http.flatMap(({ route }) =>
    route.map(({ destination }) => rulesOf(destination.host)),
  );
  // One entry for each destination, since it matters which of them has which rule.
  return destinations.map((one) => (one !== undefined && hashes(one.spec) ? one : noRule));
}

/** Returns whether a rule affects routes: only its hashes do. */
export function hashes({ trafficPolicy, subsets }: DestinationRule): boolean {
  return [trafficPolicy, ...subsets.map((subset) => subset.trafficPolicy)].some((policy) =>
    [policy, ...(policy?.portLevelSettings.values() ?? [])].some(
      (one) => one?.loadBalancer?.policy.type === 'consistent-hash',
    ),
  );
}
