import { type LeftOut, leftOutWords } from './left-out.ts';
import type { MetricsSource } from './metrics-source.ts';
import { printable } from '../../../shared/log/printable.ts';

/** Rows of a source that are left out of the answer to a scrape. */
export interface MetricsLeftOut {
  readonly type: 'metrics-left-out';
  /** Its type and target. */
  readonly source: string;
  /** The first of them, cut if it is long. */
  readonly row: string;
  readonly reason: string;
}

/**
 * Returns a function that reports rows that were left out: for each source, the first row for each
 * reason, once. Each function has a separate record of its reports.
 */
export function leftOutReporter() {
  const reported = new Set<string>();
  return (
    { type, target }: Pick<MetricsSource, 'type' | 'target'>,
    leftOut: ReadonlyMap<LeftOut, string>,
  ): readonly MetricsLeftOut[] =>
    [...leftOut].flatMap(([why, row]) => {
      const source = `${type} ${target}`;
      const key = `${source} ${why}`;
      if (reported.has(key)) return [];
      reported.add(key);
      return [{ type: 'metrics-left-out', source, row: printable(row), reason: leftOutWords[why] }];
    });
}
