/** A part of the past, in ms since 1970. */
export interface Past {
  readonly from: number;
  readonly to: number;
}

/** The shortest past that is shown, however young the agent is. In ms. */
const shortest = 10_000;

/**
 * Returns the past to show: the last `most` ms, but not more than the agent's age, so that the
 * events fill the width. Pure.
 */
export function shownPast(startedAt: number, now: number, most = Infinity): Past {
  return { from: Math.min(Math.max(startedAt, now - most), now - shortest), to: now };
}
