import type { SourceReport } from '../metrics/merge-exposition.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { MetricsSource } from '../metrics/metrics-source.ts';

/** What the agent has to tell of the scrapes themselves. */
export interface ScrapeCounts {
  begun(): void;
  readonly report: (source: Pick<MetricsSource, 'type' | 'target'>, report: SourceReport) => void;
  families(): readonly MetricFamily[];
}

/** Counts from now on. */
export function scrapeCounts(): ScrapeCounts {
  let scrapes = 0;
  const up = new Map<string, number>();
  const failures = new Map<string, number>();
  const dropped = new Map<string, number>();
  const add = (counts: Map<string, number>, labels: Readonly<Record<string, string>>, value: number) => {
    const key = JSON.stringify(labels);
    counts.set(key, (counts.get(key) ?? 0) + value);
  };
  const samples = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([key, value]) => ({ labels: JSON.parse(key) as Record<string, string>, value }));

  return {
    begun() {
      scrapes += 1;
    },
    report: ({ type, target }, { fault, dropped: rows }) => {
      up.set(JSON.stringify({ type, target }), fault === undefined ? 1 : 0);
      add(dropped, { type, target }, rows);
      if (fault !== undefined) add(failures, { type, target, reason: fault }, 1);
    },
    families: () => [
      { name: 'istio_agent_scrapes_total', type: 'counter', help: 'Scrapes of the status port', samples: [{ value: scrapes }] },
      { name: 'istio_agent_scrape_source_up', type: 'gauge', help: 'Whether the last scrape got all of the metrics of a source', samples: samples(up) }, // prettier-ignore
      { name: 'istio_agent_scrape_failures_total', type: 'counter', help: 'Scrapes in which a source failed', samples: samples(failures) },
      { name: 'istio_agent_scrape_dropped_rows_total', type: 'counter', help: 'Rows of a source that were left out: not well-formed, or of a family that a source before it has', samples: samples(dropped) }, // prettier-ignore
    ],
  };
}
