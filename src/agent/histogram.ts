/** How many took at most so long, for each of some limits in seconds; how many there were; and how long all of them took, in seconds. */
export interface Histogram {
  readonly buckets: readonly { readonly limit: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** From the launch of an epoch to LIVE; from when it was told to drain to its end; from its launch to its end. */
export type Spans = 'start' | 'drain' | 'life';

const limits: Readonly<Record<Spans, readonly number[]>> = {
  start: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  drain: [1, 5, 10, 30, 60, 120, 300],
  life: [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800],
};

const empty = (bounds: readonly number[]): Histogram => ({ buckets: bounds.map((limit) => ({ limit, count: 0 })), count: 0, sum: 0 });

/** One without anything in it for each span. */
export const spans: Readonly<Record<Spans, Histogram>> = {
  start: empty(limits.start),
  drain: empty(limits.drain),
  life: empty(limits.life),
};

/** With what has come to its end, in ms. Pure. */
export function observed(
  before: Readonly<Record<Spans, Histogram>>,
  ended: Readonly<Partial<Record<Spans, number>>>,
): Readonly<Record<Spans, Histogram>> {
  const add = (span: Spans): Histogram => {
    const ms = ended[span];
    if (ms === undefined) return before[span];
    const seconds = ms / 1_000;
    const buckets = before[span].buckets.map(({ limit, count }) => ({ limit, count: count + Number(seconds <= limit) }));
    return { buckets, count: before[span].count + 1, sum: before[span].sum + seconds };
  };
  return { start: add('start'), drain: add('drain'), life: add('life') };
}
