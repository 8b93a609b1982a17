/** The number of measured values in each range, by the start of the range. */
export type Bins = ReadonlyMap<number, Bin>;

interface Bin {
  readonly width: number;
  readonly count: number;
}

/**
 * Parses a histogram as Envoy prints it with `histogram_buckets=detailed`: `1,0.1:25, 2,0.1:3`,
 * each range with its width and its count. Leaves out ranges of another form. Pure.
 */
export function parseBins(text: string): Bins {
  const bins = new Map<number, Bin>();
  for (const part of text.split(', ')) {
    const [, from, width, count] = /^([\d.e+-]+),([\d.e+-]+):(\d+)$/.exec(part) ?? [];
    const bin = { width: Number(width), count: Number(count) };
    if (
      Number.isFinite(Number(from)) &&
      Number.isFinite(bin.width) &&
      Number.isSafeInteger(bin.count)
    )
      bins.set(Number(from), bin);
  }
  return bins;
}

/** Joins the values of several histograms. Pure. */
export function joinedBins(histograms: readonly Bins[]): Bins {
  const sum = new Map<number, Bin>();
  for (const bins of histograms)
    for (const [from, { width, count }] of bins)
      sum.set(from, { width, count: count + (sum.get(from)?.count ?? 0) });
  return sum;
}

/**
 * Returns the values measured since an earlier look; undefined if any count is smaller now. Pure.
 */
export function binsSince(before: Bins, now: Bins): Bins | undefined {
  if ([...before].some(([from, { count }]) => (now.get(from)?.count ?? 0) < count))
    return undefined;
  return new Map(
    [...now].map(([from, { width, count }]) => [
      from,
      { width, count: count - (before.get(from)?.count ?? 0) },
    ]),
  );
}

/**
 * Returns the value that a share of all values does not exceed; undefined if there are none. Pure.
 */
export function quantile(bins: Bins, share: number): number | undefined {
  const sorted = [...bins].filter(([, { count }]) => count > 0).sort(([a], [b]) => a - b);
  const wanted = share * sorted.reduce((sum, [, { count }]) => sum + count, 0);
  let below = 0;
  for (const [from, { width, count }] of sorted) {
    if (below + count >= wanted) return from + width * ((wanted - below) / count);
    below += count;
  }
  return undefined;
}
