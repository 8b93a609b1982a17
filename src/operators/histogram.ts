/**
 * A histogram: for each limit the number of values that do not exceed it, the number of all values,
 * and their sum. Times are in seconds.
 */
export interface Histogram {
  readonly buckets: readonly { readonly limit: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** Returns an empty histogram. Pure. */
export function emptyHistogram(limits: readonly number[]): Histogram {
  return { buckets: limits.map((limit) => ({ limit, count: 0 })), count: 0, sum: 0 };
}

/**
 * Adds a duration in ms. A negative one, from a clock that was set back, counts as 0: a sum that
 * falls would be a restart for Prometheus. Pure.
 */
export function observed(histogram: Histogram, ms: number): Histogram {
  return counted(histogram, Math.max(0, ms) / 1_000);
}

/** Adds a value. Pure. */
export function counted({ buckets, count, sum }: Histogram, value: number): Histogram {
  return {
    buckets: buckets.map((bucket) => ({
      ...bucket,
      count: bucket.count + Number(value <= bucket.limit),
    })),
    count: count + 1,
    sum: sum + value,
  };
}
