/**
 * Returns the CPU time of `large` divided by that of `small`. Each time is that of the fastest
 * round, because other programs only add to a time. There are at least 3 rounds, and more until the
 * ratio is at most `enough`, but at most 40. Both must do their whole work in the call.
 */
export function growthRatio(small: () => unknown, large: () => unknown, enough: number): number {
  let [few, many] = [Infinity, Infinity];
  for (let round = 0; round < 40 && (round < 3 || many / few > enough); round += 1) {
    few = Math.min(few, cpuTime(small));
    many = Math.min(many, cpuTime(large));
  }
  return many / few;
}

/** Returns the CPU time of this process during the work, in µs. */
function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
