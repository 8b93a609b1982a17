import type { SourceReport } from '../metrics/merge-exposition.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { MetricsSource } from '../metrics/metrics-source.ts';

/** What happens in scrapes: one begins, or is through with a source. */
export type ScrapeEvent = { readonly type: 'begun' } | { readonly type: 'reported'; readonly source: Pick<MetricsSource, 'type' | 'target'>; readonly report: SourceReport }; // prettier-ignore

type Labels = Readonly<Record<string, string>>;

/** By labels, as JSON. */
type Counts = ReadonlyMap<string, number>;

/** What the agent has to tell of the scrapes themselves. */
export interface ScrapeCounts {
  readonly scrapes: number;
  readonly up: Counts;
  readonly failures: Counts;
  readonly dropped: Counts;
}

export const noScrapes: ScrapeCounts = { scrapes: 0, up: new Map(), failures: new Map(), dropped: new Map() };

/** Counts one event. Pure. */
export function countScrape(counts: ScrapeCounts, event: ScrapeEvent): ScrapeCounts {
  if (event.type === 'begun') return { ...counts, scrapes: counts.scrapes + 1 };
  const { fault, dropped } = event.report;
  const { type, target } = event.source;
  return {
    scrapes: counts.scrapes,
    up: new Map(counts.up).set(JSON.stringify({ type, target }), fault === undefined ? 1 : 0),
    failures: fault === undefined ? counts.failures : add(counts.failures, { type, target, reason: fault }, 1),
    dropped: add(counts.dropped, { type, target }, dropped),
  };
}

function add(counts: Counts, labels: Labels, value: number): Counts {
  const key = JSON.stringify(labels);
  return new Map(counts).set(key, (counts.get(key) ?? 0) + value);
}

/** The counts as metrics. Pure. */
export function scrapeFamilies({ scrapes, up, failures, dropped }: ScrapeCounts): readonly MetricFamily[] {
  return [
    { name: 'istio_agent_scrapes_total', type: 'counter', help: 'Scrapes of the status port', samples: [{ value: scrapes }] },
    { name: 'istio_agent_scrape_source_up', type: 'gauge', help: 'Whether the last scrape got all of the metrics of a source', samples: samples(up) }, // prettier-ignore
    { name: 'istio_agent_scrape_failures_total', type: 'counter', help: 'Scrapes in which a source failed', samples: samples(failures) },
    { name: 'istio_agent_scrape_dropped_rows_total', type: 'counter', help: 'Rows of a source that were left out: not well-formed, or of a family that a source before it has', samples: samples(dropped) }, // prettier-ignore
  ];
}

function samples(counts: Counts): MetricFamily['samples'] {
  return [...counts].map(([key, value]) => ({ labels: JSON.parse(key) as Labels, value }));
}
