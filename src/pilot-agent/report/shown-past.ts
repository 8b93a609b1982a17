/** A part of the past, in ms since 1970. */
export interface Past {
  readonly from: number;
  readonly to: number;
}

/** However young an agent is, so much of the past is shown. In ms. */
const shortest = 10_000;

/**
 * What is shown of the past: the last `most` ms, and no more than the agent is old. What happened
 * fills the width so. Pure.
 */
export function shownPast(startedAt: number, now: number, most = Infinity): Past {
  return { from: Math.min(Math.max(startedAt, now - most), now - shortest), to: now };
}
