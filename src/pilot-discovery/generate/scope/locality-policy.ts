import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { LocalitySettings, PortPolicy } from '../../istio/traffic/destination-rule.ts';
import { networkLabel } from '../../istio/fields/network-label.ts';
import type { TrafficDistribution } from '../../istio/hosts/traffic-distribution.ts';

/** How requests prefer localities. */
export interface LocalityPolicy {
  readonly settings: LocalitySettings;
  /** Whether the nearest endpoints come first. Otherwise only `distribute` has an effect. */
  readonly failover: 'active' | 'inactive';
  /** `regions`: Envoy itself chooses between the localities of a region. */
  readonly tiers: 'localities' | 'regions';
}

/** The labels that an endpoint shares with a caller that is close to it, the widest first. */
export const labelsOfDistribution = [
  networkLabel,
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
 * Returns how requests to a service prefer localities. A rule takes precedence over the preference
 * of the service, and this preference over the MeshConfig. As in Istio, a rule and the MeshConfig
 * need outlier detection for failover. The preference of the service does not need it, and neither
 * does failover between regions if Envoy itself chooses between zones.
 */
export function localityPolicyOf(
  { loadBalancer, outlierDetection }: PortPolicy,
  distribution: TrafficDistribution,
  mesh: Pick<MeshConfig, 'localities'>,
): LocalityPolicy {
  const { locality: ruled, zones } = loadBalancer ?? {};
  if (zones?.preference === 'own-zone') {
    const { failover, failoverPriority } = zones;
    const settings = { enabled: true, distribute: [], failover, failoverPriority };
    return { settings, failover: 'active', tiers: 'regions' };
  }
  const tiers = 'localities';
  if (ruled === undefined && distribution === 'close')
    return { settings: close, failover: 'active', tiers };
  const failover = outlierDetection === undefined ? 'inactive' : 'active';
  return { settings: ruled ?? mesh.localities, failover, tiers };
}

/** Returns whether localities have weights for services that have no rule. */
export const distributes = ({ localities }: Pick<MeshConfig, 'localities'>): boolean =>
  localities.enabled !== false && localities.distribute.length > 0;
