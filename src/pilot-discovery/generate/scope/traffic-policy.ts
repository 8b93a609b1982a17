import type { DestinationRule, PortPolicy, TrafficPolicy } from '../../istio/destination-rule.ts';

const nothing: PortPolicy = {
  loadBalancer: undefined,
  connectionPool: undefined,
  outlierDetection: undefined,
  tls: undefined,
};

/**
 * What a rule says of one port of a host, or of one of its subsets. Settings of a port stand for
 * all of the policy they are in; those of a subset for the parts that they have.
 */
export function policyFor(
  rule: DestinationRule | undefined,
  port: number,
  subset: string | undefined,
): PortPolicy {
  const whole = portPolicyOf(rule?.trafficPolicy, port) ?? nothing;
  const own = rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy;
  if (own === undefined) return whole;
  return (
    own.portLevelSettings.get(port) ?? {
      loadBalancer: own.loadBalancer ?? whole.loadBalancer,
      connectionPool: own.connectionPool ?? whole.connectionPool,
      outlierDetection: own.outlierDetection ?? whole.outlierDetection,
      tls: own.tls ?? whole.tls,
    }
  );
}

/**
 * What holds for one port: a part that its own settings lack is not that of the whole, as Istio has
 * it.
 */
function portPolicyOf(policy: TrafficPolicy | undefined, port: number): PortPolicy | undefined {
  return policy?.portLevelSettings.get(port) ?? policy;
}
