/** When a certificate is replaced. Times in ms since 1970. */
export interface Lifetime {
  readonly created: number;
  readonly expires: number;
  /** The share of the lifetime that is to be left. */
  readonly ratio: number;
}

/** A certificate that is born expired is not asked for again and again without a pause. In ms. */
const shortest = 100;
/** What a timer of Node can count. */
const longest = 2 ** 31 - 1;
/** Of the lifetime, to either side, so that not all workloads of a mesh ask at once; as in the Go agent of today. */
const spread = 0.01;

/** How long from `now` until a certificate is to be replaced, in ms. Pure, but for `random`, which gives a number from 0 to 1. */
export function rotationDelay({ created, expires, ratio }: Lifetime, now: number, random: () => number): number {
  const lifetime = expires - created;
  const due = expires - ratio * lifetime + (2 * random() - 1) * spread * lifetime;
  return Math.min(Math.max(due - now, shortest), longest);
}
