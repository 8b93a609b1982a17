import type { Resource } from '../../istio/documents/model.ts';
import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';
import { memoTable } from '../scope/memo.ts';

type Rule = Resource<'VirtualService'>;

/** VirtualServices with routes for HTTP. */
interface HttpRules {
  readonly all: readonly Rule[];
  /** By each host that is not a wildcard. */
  readonly naming: ReadonlyMap<string, readonly Rule[]>;
  /** Those with a wildcard. */
  readonly wide: readonly Rule[];
}

const rulesOfList = memoTable<HttpRules>();

const httpRulesIn = (rules: readonly Rule[]): HttpRules =>
  rulesOfList([rules], '', () => {
    const all = rules.filter(({ spec }) => spec.http.length > 0);
    const naming = new Map<string, Rule[]>();
    for (const rule of all)
      for (const host of new Set(rule.spec.hosts)) {
        if (isWildcard(host)) continue;
        const same = naming.get(host);
        if (same === undefined) naming.set(host, [rule]);
        else same.push(rule);
      }
    return { all, naming, wide: all.filter(({ spec }) => spec.hosts.some(isWildcard)) };
  });

/** Returns the VirtualServices that have routes for HTTP, in the same order. */
export const httpRules = (rules: readonly Rule[]): readonly Rule[] => httpRulesIn(rules).all;

/**
 * Returns those that may apply to one service: the rules that name it, else those with a wildcard
 * for it. Thousands of services may each have a route configuration, so this does not visit all
 * rules.
 */
export function httpRulesFor(rules: readonly Rule[], host: string): readonly Rule[] {
  const { naming, wide } = httpRulesIn(rules);
  return (
    naming.get(host) ??
    wide.filter(({ spec }) =>
      spec.hosts.some((ruleHost) => isWildcard(ruleHost) && isWithin(host, ruleHost)),
    )
  );
}
