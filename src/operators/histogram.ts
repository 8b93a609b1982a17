/**
 * How many took at most so long, for each of some limits in seconds; how many there were; and how
 * long all of them took, in seconds.
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
export function observed({ buckets, count, sum }: Histogram, ms: number): Histogram {
  const seconds = ms / 1_000;
  return {
    buckets: buckets.map((bucket) => ({ ...bucket, count: bucket.count + Number(seconds <= bucket.limit) })),
    count: count + 1,
    sum: sum + seconds,
  };
}
