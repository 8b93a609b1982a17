import { goCounter, type MetricFamily } from '../../shared/metrics/metric-family.ts';

/** Counts by the type of the pushed resources: `sds`, `cds`, … */
export type ByType = Iterable<readonly [type: string, count: number]>;

/** Returns the pushes to Envoy, under the name of the Go agent (1.9 and later). Pure. */
export function pushesByType(counts: ByType): MetricFamily {
  return goCounter('pilot_xds_pushes', 'Pushes to Envoy, by type', samples(counts));
}

/** Returns the pushes that Envoy NACKed, under the name of the Go agent (1.9 and later). Pure. */
export function rejectsByType(counts: ByType): MetricFamily {
  return goCounter('pilot_total_xds_rejects', 'Pushes that Envoy NACKed, by type', samples(counts));
}

function samples(counts: ByType): MetricFamily['samples'] {
  return [...counts].map(([type, value]) => ({ labels: { type }, value }));
}
