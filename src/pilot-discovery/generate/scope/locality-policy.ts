import type { LocalitySettings, PortPolicy } from '../../istio/traffic/destination-rule.ts';
import type { TrafficDistribution } from '../../istio/hosts/traffic-distribution.ts';

/** How requests prefer localities. */
export interface LocalityPolicy {
  /** Undefined if neither a rule nor the service says anything. */
  readonly settings: LocalitySettings | undefined;
  /** Whether the nearest endpoints come first. Otherwise only `distribute` has an effect. */
  readonly failover: 'active' | 'inactive';
}

/** The labels that an endpoint shares with a caller that is close to it, the widest first. */
export const labelsOfDistribution = [
  'topology.istio.io/network',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.istio.io/subzone',
] as const;

const close: LocalitySettings = {
  enabled: true,
  distribute: [],
  failover: [],
  failoverPriority: labelsOfDistribution,
};

/**
 * Returns how requests to a service prefer localities. A rule comes before the preference of the
 * service. As in Istio, a rule needs outlier detection for failover, and the preference does not.
 */
export function localityPolicyOf(
  { loadBalancer, outlierDetection }: PortPolicy,
  distribution: TrafficDistribution,
): LocalityPolicy {
  const ruled = loadBalancer?.locality;
  if (ruled === undefined && distribution === 'close')
    return { settings: close, failover: 'active' };
  return { settings: ruled, failover: outlierDetection === undefined ? 'inactive' : 'active' };
}
