// Why: docs/decisions/074-access-is-what-istiod-makes-of-it.md
import type { AccessRules } from '../../istio/security/access-policy.ts';
import type { Resource } from '../../istio/documents/model.ts';
import {
  RBAC_Action as Action,
  type RBACSchema as RulesSchema,
} from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import { RBACSchema as HttpSchema } from '../../../shared/proto/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts';
import { RBACSchema as TcpSchema } from '../../../shared/proto/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts';
import type { AccessPolicyKind } from '../../environment/environment.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';
import type { AccessLayer } from './access-matches.ts';
import { rbacPolicies } from './rbac-policies.ts';

export type AccessPolicyResource = Resource<AccessPolicyKind>;

/** The filters that allow, deny or audit callers, in the order of Istio. */
export interface AccessFilters {
  readonly http: readonly TypedConfig[];
  readonly tcp: readonly TypedConfig[];
}

type Rules = Init<typeof RulesSchema>;

/** The actions in Istio's order. `prefix` begins the statistics of dry runs. */
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
      const policiesOfAction = policies.flatMap(({ namespace, name, spec: { effect } }) =>
        effect.type === 'rules' && effect.action === action ? [{ namespace, name, effect }] : [],
      );
      const rulesOf = (mode: AccessRules['mode']): Rules | undefined => {
        const policiesOfMode = policiesOfAction.filter(({ effect }) => effect.mode === mode);
        if (policiesOfMode.length === 0) return undefined;
        const namedPolicies = policiesOfMode.flatMap(({ namespace, name, effect: { rules } }) =>
          rbacPolicies(rules, {
            nameOf: (index) => ruleName({ namespace, name }, index),
            unknown: action === 'allow' ? 'refused' : 'ignored',
            layer,
            trustDomain,
          }),
        );
        return { action: as, policies: Object.fromEntries(namedPolicies) };
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

/** Returns the name of a rule that Envoy's statistics and logs show, as in Istio. */
export const ruleName = (
  { namespace, name }: Pick<AccessPolicyResource, 'namespace' | 'name'>,
  index: number,
): string => `ns[${namespace}]-policy[${name}]-rule[${index}]`;

interface FilterRules {
  readonly rules?: Rules;
  readonly shadowRules?: Rules;
  readonly shadowRulesStatPrefix: string;
}
