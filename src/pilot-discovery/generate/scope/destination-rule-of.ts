import type { DestinationRule } from '../../istio/traffic/destination-rule.ts';
import { keyOf, type Resource, type ResourceKey } from '../../istio/documents/model.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';
import { memoTable } from './memo.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';
import { scopeOfRules } from './scope.ts';
import { isVisible } from './visible-services.ts';

type Rule = Resource<'DestinationRule'>;

/** The rule of a host: one DestinationRule, or several of one namespace that were merged. */
export interface MatchedRule {
  /** The namespace of the oldest DestinationRule. */
  readonly namespace: string;
  readonly name: string;
  readonly spec: DestinationRule;
  readonly keys: readonly ResourceKey[];
}

/**
 * Returns the rule for a service. The namespace of the proxy comes first, then that of the service,
 * then the root namespace: the first of these with a rule for the host wins. For a proxy in the
 * root namespace, as a gateway often is, its namespace comes first only with rules that are not
 * exported: the others are for the whole mesh. Among several hosts the narrowest wins. A rule that
 * selects the workload comes before one for all, but only in the namespace of the proxy. Returns
 * the same object as long as its resources are the same.
 */
export function destinationRuleOf(
  environment: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels'>,
  service: Pick<Service, 'host' | 'namespace'>,
): MatchedRule | undefined {
  const candidates = rulesFor(environment, node.namespace, service);
  const workloadRule = candidates.find(
    ({ namespace, spec }) =>
      namespace === node.namespace &&
      spec.workloadSelector !== undefined &&
      selects(spec.workloadSelector, node.labels),
  );
  return workloadRule ?? candidates.findLast(({ spec }) => spec.workloadSelector === undefined);
}

const lookups = memoTable<readonly MatchedRule[]>();

function rulesFor(
  { destinationRules, mesh: { rootNamespace } }: Environment,
  client: string,
  { host, namespace }: Pick<Service, 'host' | 'namespace'>,
): readonly MatchedRule[] {
  return lookups(
    [destinationRules],
    [rootNamespace, scopeOfRules({ destinationRules }, client), namespace, host].join('\n'),
    () => {
      const visible = hostsFor(destinationRules, host).map((name) =>
        (destinationRules.get(name) ?? []).filter((rule) =>
          isVisible(rule.spec.exportTo, rule.namespace, client),
        ),
      );
      const preferences: readonly ((rule: Rule) => boolean)[] = [
        client === rootNamespace ? isKept : (rule) => rule.namespace === client,
        (rule) => rule.namespace === namespace,
        (rule) => rule.namespace === rootNamespace,
      ];
      for (const isPreferred of preferences) {
        const rules = visible
          .map((same) => same.filter(isPreferred))
          .find((same) => same.length > 0);
        if (rules !== undefined) return joined(rules);
      }
      return [];
    },
  );
}

/** Returns whether a rule is visible only in its own namespace. */
const isKept = ({ namespace, spec: { exportTo } }: Rule): boolean =>
  exportTo.length > 0 && exportTo.every((place) => place === namespace);

const wildcards = memoTable<readonly string[]>();

/** Returns the hosts of rules that match a host, the narrowest first. */
function hostsFor(rules: Environment['destinationRules'], host: string): readonly string[] {
  const wide = wildcards([rules], '', () =>
    [...rules.keys()].filter(isWildcard).sort((a, b) => b.length - a.length),
  );
  return [
    ...(rules.has(host) ? [host] : []),
    ...wide.filter((wildcard) => wildcard !== host && isWithin(host, wildcard)),
  ];
}

/** Merges rules for the same workloads that are visible to the same namespaces. */
function joined(rules: readonly Rule[]): readonly MatchedRule[] {
  const groups = new Map<string, Rule[]>();
  for (const rule of rules) {
    const { exportTo, workloadSelector } = rule.spec;
    const labels =
      workloadSelector && Object.entries(workloadSelector).sort(([a], [b]) => (a < b ? -1 : 1));
    const group = JSON.stringify([[...exportTo].sort(), labels]);
    groups.set(group, [...(groups.get(group) ?? []), rule]);
  }
  return [...groups.values()].flatMap((group) => joinedOnce(group) ?? []);
}

const mergedRules = memoTable<MatchedRule>();

function joinedOnce(rules: readonly Rule[]): MatchedRule | undefined {
  const [first] = rules;
  if (first === undefined) return undefined;
  return mergedRules(rules, '', () => {
    const subsets = new Map(
      rules
        .flatMap(({ spec }) => spec.subsets)
        .reverse()
        .map((subset) => [subset.name, subset]),
    );
    const trafficPolicy = rules.find(({ spec }) => spec.trafficPolicy !== undefined)?.spec
      .trafficPolicy;
    const spec =
      rules.length === 1
        ? first.spec
        : { ...first.spec, trafficPolicy, subsets: [...subsets.values()].reverse() };
    return { namespace: first.namespace, name: first.name, spec, keys: rules.map(keyOf) };
  });
}
