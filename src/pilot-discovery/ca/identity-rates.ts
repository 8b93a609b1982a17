import { setNewest } from '../../shared/maps/set-newest.ts';

/** How often one identity may get a certificate. */
export interface IdentityRate {
  /** The number of certificates at once, after a pause. */
  readonly burst: number;
  /** The number of certificates in a second, on average. */
  readonly perSecond: number;
}

/** The answer to one request of an identity. */
export type RateVerdict =
  | { readonly type: 'passes' }
  /**
   * `unlogged`: the number of requests that were refused since the last line of the log, with this
   * one, if a line is due; otherwise undefined.
   */
  | { readonly type: 'too-many'; readonly unlogged: number | undefined };

/** An identity, as the last request has left it. */
interface Bucket {
  readonly left: number;
  readonly at: number;
  readonly refused: number;
  readonly loggedAt: number;
}

/**
 * The most identities whose requests are counted. Another identity replaces the one that has been
 * silent longest, which then has its whole burst again.
 */
export const mostIdentities = 10_000;
/** In ms. The time between two lines of the log about one identity. */
const pause = 60_000;
const second = 1_000;

/**
 * Returns a function that counts a request of an identity, and says whether it passes. Each
 * identity has its own count: one that asks too often delays nobody else.
 */
export function identityRates({
  burst,
  perSecond,
}: IdentityRate): (identity: string, now: number) => RateVerdict {
  const buckets = new Map<string, Bucket>(); // the one that asked last is the last
  const full = (now: number): Bucket => ({ left: burst, at: now, refused: 0, loggedAt: -Infinity });
  return (identity, now) => {
    const before = buckets.get(identity) ?? full(now);
    const gained = (Math.max(now - before.at, 0) / second) * perSecond;
    const left = Math.min(before.left + gained, burst);
    const [after, verdict] = counted({ ...before, left, at: now }, now);
    setNewest(buckets, identity, after, mostIdentities);
    return verdict;
  };
}

function counted(bucket: Bucket, now: number): readonly [Bucket, RateVerdict] {
  if (bucket.left >= 1) return [{ ...bucket, left: bucket.left - 1 }, { type: 'passes' }];
  const refused = bucket.refused + 1;
  if (now - bucket.loggedAt < pause)
    return [
      { ...bucket, refused },
      { type: 'too-many', unlogged: undefined },
    ];
  return [
    { ...bucket, refused: 0, loggedAt: now },
    { type: 'too-many', unlogged: refused },
  ];
}
