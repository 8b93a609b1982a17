const first = 200;
const longest = 30_000;

/** The pause in ms before restart number `attempt` (from 0): 200 ms, doubling up to 30 s. Jitter comes on top where it is waited for. */
export function backOff(attempt: number): number {
  return Math.min(first * 2 ** attempt, longest);
}
