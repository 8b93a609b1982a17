/**
 * The minor versions of the oldest and the newest release that the agent supports. Releases differ
 * in the names of statistics, and in the sentences with which Envoy refuses a configuration; the
 * agent knows those of this range.
 */
const [first, last] = [36, 40];

/** The supported releases, in words. */
export const supportedReleases = `1.${first} to 1.${last}`;

/** Returns whether the agent supports the release of an Envoy version such as `1.36.2`. */
export function isSupported(version: string): boolean {
  const [, release] = /^1\.(\d+)\./.exec(version) ?? [];
  return release !== undefined && Number(release) >= first && Number(release) <= last;
}
