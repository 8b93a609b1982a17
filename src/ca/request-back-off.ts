const first = 50;
const most = 30_000;
const spread = 0.2;

/** How long after the `failures`th failed request in a row the next one comes: 50 ms doubling up to 30 s, 20 % more or less. Pure, but for `random`. */
export function requestBackOff(failures: number, isFleeting: boolean, random: () => number): number {
  // What is refused will be so in a moment too; but the token on disk may be another one then.
  const delay = isFleeting ? Math.min(first * 2 ** Math.min(failures - 1, 20), most) : most;
  return Math.round(delay * (1 + spread * (2 * random() - 1)));
}
