import type { Resource } from '../istio/documents/model.ts';

type Rule = Resource<'VirtualService'>;

/** Two VirtualServices of the mesh for one host, both visible to one namespace. */
export interface DuplicateHost {
  readonly host: string;
  readonly first: Rule;
  readonly second: Rule;
}

/**
 * The first rules of a host: of all its rules, of its rules for all namespaces, and of its rules
 * for each namespace.
 */
interface EarlierRules {
  readonly first: Rule;
  everywhere: Rule | undefined;
  readonly byNamespace: Map<string, Rule>;
}

/** Yields each host of a VirtualService of the mesh that an earlier one has too. Pure. */
export function* duplicateHosts(rules: Iterable<Rule>): Generator<DuplicateHost, undefined> {
  const byHost = new Map<string, EarlierRules>();
  for (const rule of rules) {
    if (!rule.spec.gateways.includes('mesh')) continue;
    const { exportTo } = rule.spec;
    for (const host of new Set(rule.spec.hosts)) {
      const earlier = byHost.get(host);
      const first = earlier && seenWith(earlier, exportTo);
      if (first !== undefined) yield { host, first, second: rule };
      const owners = earlier ?? { first: rule, everywhere: undefined, byNamespace: new Map() };
      if (exportTo.length === 0) owners.everywhere ??= rule;
      for (const namespace of exportTo)
        if (!owners.byNamespace.has(namespace)) owners.byNamespace.set(namespace, rule);
      byHost.set(host, owners);
    }
  }
}

/** Returns an earlier rule that a namespace of `exportTo` sees; empty means all namespaces. */
function seenWith(
  { first, everywhere, byNamespace }: EarlierRules,
  exportTo: readonly string[],
): Rule | undefined {
  if (exportTo.length === 0) return first;
  return (
    everywhere ??
    exportTo.map((namespace) => byNamespace.get(namespace)).find((rule) => rule !== undefined)
  );
}
