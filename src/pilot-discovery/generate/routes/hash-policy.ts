import type {
  DestinationRule,
  HashKey,
  LoadBalancer,
  TrafficPolicy,
} from '../../istio/traffic/destination-rule.ts';
import type { RouteAction_HashPolicySchema } from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { Init } from '../encoding/typed-config.ts';

type HashPolicy = Init<typeof RouteAction_HashPolicySchema>;

/**
 * Returns the part of a request whose hash selects its host, for a named port (0 for none) and a
 * subset ('' for none); undefined if the rule has no consistent hash. The nearest setting wins:
 * that of the subset's port, of the subset, of the port, of the whole service.
 */
export function hashPolicyOf(
  rule: DestinationRule | undefined,
  subset: string,
  port: number,
): HashPolicy | undefined {
  const named =
    subset === '' ? undefined : rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy;
  const key = keyFor(named, port) ?? keyFor(rule?.trafficPolicy, port);
  return key === undefined ? undefined : toPolicy(key);
}

const keyFor = (policy: TrafficPolicy | undefined, port: number): HashKey | undefined =>
  keyOf(policy?.portLevelSettings.get(port)?.loadBalancer) ?? keyOf(policy?.loadBalancer);

const keyOf = (balancer: LoadBalancer | undefined): HashKey | undefined =>
  balancer?.policy.type === 'consistent-hash' ? balancer.policy.key : undefined;

function toPolicy(key: HashKey): HashPolicy {
  switch (key.type) {
    case 'header':
      return { policySpecifier: { case: 'header', value: { headerName: key.name } } };
    case 'cookie': {
      const { name, path, ttlMs } = key;
      return {
        policySpecifier: {
          case: 'cookie',
          value: { name, path, ...(ttlMs !== undefined && { ttl: protoDuration(ttlMs) }) },
        },
      };
    }
    case 'source-ip':
      return { policySpecifier: { case: 'connectionProperties', value: { sourceIp: true } } };
    case 'query-parameter':
      return { policySpecifier: { case: 'queryParameter', value: { name: key.name } } };
  }
}
