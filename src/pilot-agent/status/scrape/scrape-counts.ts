import type { ScrapeReport } from './merge-exposition.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import type { FaultReason, MetricsSource } from './metrics-source.ts';

/** An event of a scrape: it begins, or one of its sources is finished. */
export type ScrapeEvent =
  | { readonly type: 'begun' }
  | {
      readonly type: 'reported';
      readonly source: Pick<MetricsSource, 'type' | 'target'>;
      readonly report: ScrapeReport;
    };

/**
 * The agent's counts of the scrapes themselves: how many there were, and the results of each
 * source.
 */
export interface ScrapeCounts {
  readonly scrapes: number;
  /** By type and target. */
  readonly sources: ReadonlyMap<string, SourceCounts>;
}

interface SourceCounts {
  readonly labels: Readonly<Record<'type' | 'target', string>>;
  readonly isUp: boolean;
  readonly dropped: number;
  readonly failures: ReadonlyMap<FaultReason, number>;
}

export const noScrapes: ScrapeCounts = { scrapes: 0, sources: new Map() };

/** Counts one event. Pure. */
export function countScrape({ scrapes, sources }: ScrapeCounts, event: ScrapeEvent): ScrapeCounts {
  if (event.type === 'begun') return { scrapes: scrapes + 1, sources };
  const { type, target } = event.source;
  const { fault, dropped } = event.report;
  const key = `${type} ${target}`;
  const before = sources.get(key) ?? {
    labels: { type, target },
    dropped: 0,
    failures: new Map<FaultReason, number>(),
  };
  const { labels, failures } = before;
  const now: SourceCounts = {
    labels,
    isUp: fault === undefined,
    dropped: before.dropped + dropped,
    failures:
      fault === undefined ? failures : new Map(failures).set(fault, (failures.get(fault) ?? 0) + 1),
  };
  return { scrapes, sources: new Map(sources).set(key, now) };
}

/** Returns the counts as metrics. Pure. */
export function scrapeFamilies({ scrapes, sources }: ScrapeCounts): readonly MetricFamily[] {
  const counts = [...sources.values()];
  const failed = counts.flatMap(({ labels, failures }) =>
    [...failures].map(([reason, value]) => ({ labels: { ...labels, reason }, value })),
  );
  return [
    {
      name: 'istio_agent_scrapes_total',
      type: 'counter',
      help: 'Scrapes of the status port',
      samples: [{ value: scrapes }],
    },
    {
      name: 'istio_agent_scrape_source_up',
      type: 'gauge',
      help: 'Whether the last scrape got all of a source',
      samples: counts.map(({ labels, isUp }) => ({ labels, value: Number(isUp) })),
    },
    {
      name: 'istio_agent_scrape_failures_total',
      type: 'counter',
      help: 'Scrapes in which a source failed',
      samples: failed,
    },
    {
      name: 'istio_agent_scrape_dropped_rows_total',
      type: 'counter',
      help: 'Rows of a source that were dropped',
      samples: counts.map(({ labels, dropped }) => ({ labels, value: dropped })),
    },
  ];
}
