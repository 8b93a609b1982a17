import { goCounter, type MetricFamily } from '../../shared/metrics/metric-family.ts';

/** How many there were by the type of what was pushed: `sds`, `cds`, … */
export type ByType = Iterable<readonly [type: string, count: number]>;

/** What was pushed to Envoy, under the name of the Go agent (1.9 and later). Pure. */
export function pushesByType(counts: ByType): MetricFamily {
  return goCounter('pilot_xds_pushes', 'What was pushed to Envoy, by type', samples(counts));
}

/** What of that Envoy has rejected, under the name of the Go agent (1.9 and later). Pure. */
export function rejectsByType(counts: ByType): MetricFamily {
  return goCounter(
    'pilot_total_xds_rejects',
    'Pushes that Envoy rejected, by type',
    samples(counts),
  );
}

function samples(counts: ByType): MetricFamily['samples'] {
  return [...counts].map(([type, value]) => ({ labels: { type }, value }));
}
