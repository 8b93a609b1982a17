/** Returns the time of this machine, for a reason that depends on it. Pure. */
export const clockSays = (now: number): string =>
  `the clock of the control plane says ${new Date(now).toISOString()}`;
