/** The largest share of all time that looks without a change may take. */
const share = 1 / 2_000;
/** The longest pause for that, in ms: a look may have lasted as long as a suspension. */
const longest = 3_600_000;

/**
 * Returns the pause before the next look at files if no change is reported: `every`, or longer if
 * the last look took long, but an hour at most for that. All in ms. Pure.
 */
export const lookPause = (every: number, took: number): number =>
  Math.max(every, Math.min(took / share, longest));
