import type { FaultReason, MetricsSource, RefusedScrape } from './metrics-source.ts';
import type { SchedulerLike } from 'rxjs';

/** The agent takes no more metrics of a source. */
export interface MetricsRefused {
  readonly type: 'metrics-refused';
  /** Its type and target. */
  readonly source: string;
  readonly reason: string;
}

/** The least time between two reports of a source with the same reason. In ms. */
const pause = 3_600_000;

const words: Readonly<Record<RefusedScrape, string>> = {
  too_large: 'it has more than 10 MiB',
  too_many_rows: 'it has more than 100,000 rows',
  too_many_families: 'it has more than 10,000 families',
  busy: 'it is large, and another large scrape took too long',
};

/**
 * Returns a function that reports sources of which no more metrics are taken: each reason of each
 * source once an hour. Each function has a separate record of its reports.
 */
export function refusalReporter(scheduler: SchedulerLike) {
  const reportedAt = new Map<string, number>();
  return (
    { type, target }: Pick<MetricsSource, 'type' | 'target'>,
    fault: FaultReason | undefined,
  ): readonly MetricsRefused[] => {
    const source = `${type} ${target}`;
    const key = `${source} ${fault ?? ''}`;
    if (!isRefused(fault) || scheduler.now() - (reportedAt.get(key) ?? -Infinity) < pause)
      return [];
    reportedAt.set(key, scheduler.now());
    return [{ type: 'metrics-refused', source, reason: words[fault] }];
  };
}

function isRefused(fault: FaultReason | undefined): fault is RefusedScrape {
  return fault !== undefined && Object.hasOwn(words, fault);
}
