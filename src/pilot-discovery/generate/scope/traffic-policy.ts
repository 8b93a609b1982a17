import type {
  DestinationRule,
  PortPolicy,
  ProxyProtocol,
  RetryBudget,
  TrafficPolicy,
} from '../../istio/traffic/destination-rule.ts';

const nothing: PortPolicy = {
  loadBalancer: undefined,
  connectionPool: undefined,
  outlierDetection: undefined,
  tls: undefined,
};

/**
 * Returns the policy of one port of a host, or of one of its subsets. The settings of a port
 * replace the whole policy that they are in. Those of a subset replace only the parts that they
 * have.
 */
export function policyFor(
  rule: DestinationRule | undefined,
  port: number,
  subset: string | undefined,
): PortPolicy {
  const whole = portPolicyOf(rule?.trafficPolicy, port) ?? nothing;
  const subsetPolicy = rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy;
  if (subsetPolicy === undefined) return whole;
  return (
    subsetPolicy.portLevelSettings.get(port) ?? {
      loadBalancer: subsetPolicy.loadBalancer ?? whole.loadBalancer,
      connectionPool: subsetPolicy.connectionPool ?? whole.connectionPool,
      outlierDetection: subsetPolicy.outlierDetection ?? whole.outlierDetection,
      tls: subsetPolicy.tls ?? whole.tls,
    }
  );
}

/**
 * Returns the policy of one port. As in Istio, parts that the settings of the port lack are not
 * taken from the whole policy.
 */
function portPolicyOf(policy: TrafficPolicy | undefined, port: number): PortPolicy | undefined {
  return policy?.portLevelSettings.get(port) ?? policy;
}

/**
 * Returns the PROXY protocol of one port of a host, or of one of its subsets. The settings of a
 * port have no PROXY protocol. They replace the whole policy, including its PROXY protocol, but not
 * the PROXY protocol of the subset.
 */
export function proxyProtocolFor(
  rule: DestinationRule | undefined,
  port: number,
  subset: string,
): ProxyProtocol | undefined {
  const policy = rule?.trafficPolicy;
  const whole = policy?.portLevelSettings.has(port) === true ? undefined : policy?.proxyProtocol;
  const subsetPolicy = rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy;
  return subsetPolicy?.proxyProtocol ?? whole;
}

/** Returns the retry budget of a host, or of one of its subsets; ports have none of their own. */
export const retryBudgetFor = (
  rule: DestinationRule | undefined,
  subset: string,
): RetryBudget | undefined =>
  rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy?.retryBudget ??
  rule?.trafficPolicy?.retryBudget;
