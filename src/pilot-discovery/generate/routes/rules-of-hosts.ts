import type { DestinationRule } from '../../istio/destination-rule.ts';
import type { Resource } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { VisibleService } from '../scope/visible-services.ts';

/** The DestinationRule for a host. */
export type RulesOf = (host: string) => MatchedRule | undefined;

/** The DestinationRule for each host, looked up once. */
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

/** Stands for a destination without a rule that hashes. */
export const noRule: Pick<MatchedRule, 'keys'> = { keys: [] };

/** For each destination of a rule the DestinationRule that has a say in its routes. */
export function hashingRules(
  rule: Resource<'VirtualService'>,
  rulesOf: RulesOf,
): readonly Pick<MatchedRule, 'keys'>[] {
  const destinations = rule.spec.http.flatMap(({ route }) =>
    route.map(({ destination }) => rulesOf(destination.host)),
  );
  // One for each destination: which of them has which rule counts.
  return destinations.map((one) => (one !== undefined && hashes(one.spec) ? one : noRule));
}

/** Whether a rule has a say in routes: only its hashes have. */
export function hashes({ trafficPolicy, subsets }: DestinationRule): boolean {
  return [trafficPolicy, ...subsets.map((subset) => subset.trafficPolicy)].some((policy) =>
    [policy, ...(policy?.portLevelSettings.values() ?? [])].some(
      (one) => one?.loadBalancer?.policy.type === 'consistent-hash',
    ),
  );
}
