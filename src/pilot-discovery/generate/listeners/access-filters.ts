// Why: docs/decisions/074-access-is-what-istiod-makes-of-it.md
import type { AccessRules } from '../../istio/access-policy.ts';
import type { Resource } from '../../istio/model.ts';
import {
  type PermissionSchema,
  type PolicySchema,
  type PrincipalSchema,
  RBAC_Action as Action,
  type RBACSchema as RulesSchema,
} from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import { RBACSchema as HttpSchema } from '../../../shared/proto/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts';
import { RBACSchema as TcpSchema } from '../../../shared/proto/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts';
import type { AccessPolicyKind } from '../../environment/environment.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';
import { callerMatches } from './access-callers.ts';
import type { AccessLayer, Matches } from './access-matches.ts';
import { operationMatches } from './access-operations.ts';

export type AccessPolicyResource = Resource<AccessPolicyKind>;

/** The filters that allow, deny or audit callers, in the order of Istio. */
export interface AccessFilters {
  readonly http: readonly TypedConfig[];
  readonly tcp: readonly TypedConfig[];
}

type Rules = Init<typeof RulesSchema>;
type Policy = Init<typeof PolicySchema>;
type Principal = Init<typeof PrincipalSchema>;
type Permission = Init<typeof PermissionSchema>;

/** Each action has the prefix of the statistics of its dry runs. */
const actions = [
  { action: 'audit', as: Action.LOG, prefix: '' },
  { action: 'deny', as: Action.DENY, prefix: 'istio_dry_run_deny_' },
  { action: 'allow', as: Action.ALLOW, prefix: 'istio_dry_run_allow_' },
] as const;

/**
 * Returns the filters for the policies of a workload: one for each action that a policy has. Pure.
 *
 * @param trustDomain replaces `cluster.local` in the names of callers
 */
export function accessFilters(
  policies: readonly AccessPolicyResource[],
  trustDomain: string,
): AccessFilters {
  const filtersOf = <T>(layer: AccessLayer, make: (rules: FilterRules) => T): readonly T[] =>
    actions.flatMap(({ action, as, prefix }) => {
      const those = policies.flatMap(({ namespace, name, spec: { effect } }) =>
        effect.type === 'rules' && effect.action === action ? [{ namespace, name, effect }] : [],
      );
      const rulesOf = (mode: AccessRules['mode']): Rules | undefined => {
        const meant = those.filter(({ effect }) => effect.mode === mode);
        if (meant.length === 0) return undefined;
        const each = meant.flatMap((one) => policiesOf(one, layer, trustDomain));
        return { action: as, policies: Object.fromEntries(each) };
      };
      const [rules, shadowRules] = [rulesOf('enforced'), rulesOf('dry-run')];
      if (rules === undefined && shadowRules === undefined) return [];
      return [
        make({
          ...(rules !== undefined && { rules }),
          ...(shadowRules !== undefined && { shadowRules }),
          shadowRulesStatPrefix: shadowRules === undefined ? 'istio_dry_run_allow_' : prefix,
        }),
      ];
    });
  return {
    http: filtersOf('http', (rules) => typedConfig('envoy.filters.http.rbac', HttpSchema, rules)),
    tcp: filtersOf('tcp', (rules) =>
      typedConfig('envoy.filters.network.rbac', TcpSchema, { ...rules, statPrefix: 'tcp.' }),
    ),
  };
}

interface FilterRules {
  readonly rules?: Rules;
  readonly shadowRules?: Rules;
  readonly shadowRulesStatPrefix: string;
}

/**
 * Envoy's messages that match anything, negate a match, or join matches: for callers, or for
 * operations.
 */
interface Side<T> {
  readonly any: T;
  readonly not: (one: T) => T;
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

interface NamedRules {
  readonly namespace: string;
  readonly name: string;
  readonly effect: AccessRules;
}

/** Returns the policies by the names that Envoy's statistics and logs show, as in Istio. */
function policiesOf(
  { namespace, name, effect: { action, rules } }: NamedRules,
  layer: AccessLayer,
  trustDomain: string,
): readonly (readonly [string, Policy])[] {
  const nameOf = (index: number) => `ns[${namespace}]-policy[${name}]-rule[${index}]`;
  if (rules.length === 0) return [[nameOf(0), never]];
  // TCP connections have no attributes of HTTP. Rules that deny or audit ignore conditions on them;
  // a rule that allows never matches if it has one.
  const unknown = action === 'allow' ? 'refused' : 'ignored';
  return rules.flatMap(({ callers, operations }, index) => {
    const principals = callers.map((all) =>
      allOf(ofCallers, all, unknown, (one) => callerMatches(one, layer, trustDomain)),
    );
    const permissions = operations.map((all) =>
      allOf(ofOperations, all, unknown, (one) => operationMatches(one, layer)),
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
  const those = matches.flatMap((one) => [
    ...(one?.some === undefined ? [] : [one.some]),
    ...(one?.none === undefined ? [] : [not(one.none)]),
  ]);
  return every(those.length === 0 ? [any] : those);
}
