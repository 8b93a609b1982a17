/**
 * The second number of the oldest and of the newest release that this agent is made for. Names of
 * statistics, and the sentences in which Envoy refuses a configuration, differ between releases:
 * the agent knows those of these.
 */
const [first, last] = [36, 40];

/** The releases that this agent is made for, in words. */
export const supportedReleases = `1.${first} to 1.${last}`;

/** Whether an Envoy of that version (as `1.36.2`) is of a release that this agent is made for. */
export function isSupported(version: string): boolean {
  const [, release] = /^1\.(\d+)\./.exec(version) ?? [];
  return release !== undefined && Number(release) >= first && Number(release) <= last;
}
