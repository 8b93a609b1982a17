import type { DestinationRule } from '../../istio/traffic/destination-rule.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { memoTable, steadyLists } from '../scope/memo.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfRulesFor } from '../scope/scope.ts';
import type { Services } from '../scope/visible-services.ts';

/** Returns the DestinationRule of a host. */
export type RulesOf = (host: string) => MatchedRule | undefined;

/** Returns a lookup of DestinationRules that remembers the rule of each host. */
export function rulesOfHosts(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): RulesOf {
  const looked = new Map<string, MatchedRule | undefined>();
  return (host) => {
    if (looked.has(host)) return looked.get(host);
    const service = services.get(host);
    const rule = service === undefined ? undefined : destinationRuleOf(environment, node, service);
    looked.set(host, rule);
    return rule;
  };
}

const sharedRules = memoTable<readonly (MatchedRule | undefined)[]>();
const owners = memoTable<object>();
const steady = steadyLists<MatchedRule | undefined>();

/**
 * Returns the DestinationRule of each service if it affects routes. The list is the same object
 * while its rules are.
 */
export function hashingRulesOf(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): readonly (MatchedRule | undefined)[] {
  const { destinationRules, mesh } = environment;
  const text = scopeOfRulesFor(environment, node);
  return sharedRules([services, destinationRules, mesh], text, () =>
    steady(
      owners([services], text, () => ({})),
      [...services.values()].map((service) => {
        const rule = destinationRuleOf(environment, node, service);
        return rule !== undefined && hashes(rule.spec) ? rule : undefined;
      }),
    ),
  );
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
  return destinations.map((destinationRule) =>
    destinationRule !== undefined && hashes(destinationRule.spec) ? destinationRule : noRule,
  );
}

/** Returns whether a rule affects routes: only its hashes do. */
export function hashes({ trafficPolicy, subsets }: DestinationRule): boolean {
  return [trafficPolicy, ...subsets.map((subset) => subset.trafficPolicy)].some((policy) =>
    [policy, ...(policy?.portLevelSettings.values() ?? [])].some(
      (portPolicy) => portPolicy?.loadBalancer?.policy.type === 'consistent-hash',
    ),
  );
}
