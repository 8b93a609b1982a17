/**
 * How many times the CPU time of `small` the work `large` takes, each by the best of its rounds:
 * other programs only add to a time. Rounds are made until the ratio is at most `enough`, or there
 * have been 40. Both do their whole work in the call.
 */
export function growthRatio(small: () => unknown, large: () => unknown, enough: number): number {
  let [few, many] = [Infinity, Infinity];
  for (let round = 0; round < 40 && (round < 3 || many / few > enough); round += 1) {
    few = Math.min(few, cpuTime(small));
    many = Math.min(many, cpuTime(large));
  }
  return many / few;
}

/** In µs, of this process. */
function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
