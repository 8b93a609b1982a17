/** Pauses between tries, in ms. */
export interface Pauses {
  /** The first pause. Each further one is twice as long as the one before. */
  readonly first: number;
  readonly longest: number;
}

/**
 * Returns the pause in ms before try number `attempt`, from 0: it doubles from the first to the
 * longest. Pure.
 */
export function backOff({ first, longest }: Pauses, attempt: number): number {
  return Math.min(first * 2 ** attempt, longest);
}

/**
 * Returns the pause, up to `share` of it longer or shorter, so that programs that failed together
 * do not try again together. Pure.
 *
 * @param random from 0 up to, but not including, 1
 */
export function jitter(ms: number, share: number, random: number): number {
  return ms * (1 + share * (2 * random - 1));
}
