/**
 * How many values are at most as large as each of some limits; how many there are; and their sum.
 * Times are in seconds.
 */
export interface Histogram {
  readonly buckets: readonly { readonly limit: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** One without anything in it. Pure. */
export function emptyHistogram(limits: readonly number[]): Histogram {
  return { buckets: limits.map((limit) => ({ limit, count: 0 })), count: 0, sum: 0 };
}

/** With one more, that took so many ms. Pure. */
export function observed(histogram: Histogram, ms: number): Histogram {
  return counted(histogram, ms / 1_000);
}

/** With one more value. Pure. */
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
