import { clusterId } from '../istio/mesh-config.ts';
import type { Labels } from '../istio/values.ts';

/** Subsets may choose by these. Each says where the endpoint is, whatever its own labels say. */
export function localityLabels(locality: string, network: string): Labels {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  const labels = {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': zone,
    'topology.istio.io/subzone': subzone,
    'topology.istio.io/network': network,
    'topology.istio.io/cluster': clusterId,
  };
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
}
