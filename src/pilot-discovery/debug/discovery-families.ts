import type { MetricFamily } from '../../shared/metrics/metric-family.ts';
import { caFamilies } from '../ca/ca-families.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';
import { meshFamilies, storeFamilies } from './mesh-families.ts';
import { pushFamilies, timeFamilies } from './push-families.ts';

/** Returns the metrics of the control plane, with the names of istiod. Pure. */
export function discoveryFamilies(view: DiscoveryView, version: string): readonly MetricFamily[] {
  return [
    {
      name: 'pilot_info',
      type: 'gauge',
      help: 'Version of the control plane.',
      samples: [{ labels: { version }, value: 1 }],
    },
    ...pushFamilies(view),
    ...timeFamilies(view.counts),
    ...meshFamilies(view),
    ...storeFamilies(view),
    ...(view.ca === undefined ? [] : caFamilies(view.ca)),
  ];
}
