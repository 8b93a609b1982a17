import { clusterId } from '../istio/mesh/mesh-config.ts';
import { networkLabel } from '../istio/fields/network-label.ts';
import type { Labels } from '../istio/fields/values.ts';

/**
 * Returns the labels of a locality, by which subsets may select. They replace labels of the
 * endpoint that have the same names.
 */
export function localityLabels(locality: string, network: string): Labels {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  const labels = {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': zone,
    'topology.istio.io/subzone': subzone,
    [networkLabel]: network,
    'topology.istio.io/cluster': clusterId,
  };
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
}
