import type { AccessRule } from '../../istio/security/access-policy.ts';
import type {
  PermissionSchema,
  PolicySchema,
  PrincipalSchema,
} from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import type { Init } from '../encoding/typed-config.ts';
import { callerMatches } from './access-callers.ts';
import type { AccessLayer, Matches } from './access-matches.ts';
import { operationMatches } from './access-operations.ts';

type Policy = Init<typeof PolicySchema>;
type Principal = Init<typeof PrincipalSchema>;
type Permission = Init<typeof PermissionSchema>;

/**
 * Envoy's messages that match anything, negate a match, or join matches: for callers, or for
 * operations.
 */
interface Side<T> {
  readonly any: T;
  readonly not: (match: T) => T;
  readonly every: (those: T[]) => T;
}

const ofCallers: Side<Principal> = {
  any: { identifier: { case: 'any', value: true } },
  not: (value) => ({ identifier: { case: 'notId', value } }),
  every: (ids) => ({ identifier: { case: 'andIds', value: { ids } } }),
};

const ofOperations: Side<Permission> = {
  any: { rule: { case: 'any', value: true } },
  not: (value) => ({ rule: { case: 'notRule', value } }),
  every: (rules) => ({ rule: { case: 'andRules', value: { rules } } }),
};

const never: Policy = {
  permissions: [ofOperations.not(ofOperations.any)],
  principals: [ofCallers.not(ofCallers.any)],
};

interface RuleContext {
  /** The name of the policy of a rule, by the index of the rule. */
  readonly nameOf: (index: number) => string;
  /**
   * TCP connections have no attributes of HTTP. Rules that deny or audit ignore conditions on such
   * attributes; a rule that allows never matches if it has such a condition.
   */
  readonly unknown: 'refused' | 'ignored';
  readonly layer: AccessLayer;
  /** It replaces `cluster.local` in the names of callers. */
  readonly trustDomain: string;
}

/**
 * Returns the policies of Envoy's RBAC for rules; without rules, a policy that nothing meets. Pure.
 */
export function rbacPolicies(
  rules: readonly AccessRule[],
  { nameOf, unknown, layer, trustDomain }: RuleContext,
): readonly (readonly [string, Policy])[] {
  if (rules.length === 0) return [[nameOf(0), never]];
  return rules.flatMap(({ callers, operations }, index) => {
    const principals = callers.map((all) =>
      allOf(ofCallers, all, unknown, (condition) => callerMatches(condition, layer, trustDomain)),
    );
    const permissions = operations.map((all) =>
      allOf(ofOperations, all, unknown, (condition) => operationMatches(condition, layer)),
    );
    return isWhole(principals) && isWhole(permissions)
      ? [[nameOf(index), { principals, permissions }] as const]
      : [];
  });
}

const isWhole = <T>(list: (T | undefined)[]): list is T[] => !list.includes(undefined);

/** Joins conditions; undefined if nothing meets all of them. */
function allOf<T, C>(
  { any, not, every }: Side<T>,
  conditions: readonly C[],
  unknown: 'refused' | 'ignored',
  matchesOf: (condition: C) => Matches<T> | undefined,
): T | undefined {
  const matches = conditions.map(matchesOf);
  if (unknown === 'refused' && matches.includes(undefined)) return undefined;
  const those = matches.flatMap((match) => [
    ...(match?.some === undefined ? [] : [match.some]),
    ...(match?.none === undefined ? [] : [not(match.none)]),
  ]);
  return every(those.length === 0 ? [any] : those);
}
