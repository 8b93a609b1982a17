/** Pauses between tries, in ms. */
export interface Pauses {
  /** The first one. Each further one is twice as long as the one before. */
  readonly first: number;
  readonly longest: number;
}

/**
 * The pause in ms before try number `attempt`, from 0: doubling from the first to the longest.
 * Pure.
 */
export function backOff({ first, longest }: Pauses, attempt: number): number {
  return Math.min(first * 2 ** attempt, longest);
}

/**
 * The same pause, up to `share` of it longer or shorter, so that many that have failed together do
 * not try again together. Pure.
 *
 * @param random from 0 up to, but not including, 1
 */
export function jitter(ms: number, share: number, random: number): number {
  return ms * (1 + share * (2 * random - 1));
}
