import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The folder that holds one folder per installed version of Envoy: `PILOT_AGENT_CACHE`, or `pilot-agent/envoy` in the user's cache.
 *
 * Never throws: a user without a home (a bare uid in a container) gets the machine's cache. Relative values are passed over, as XDG wants.
 */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const userCache = () => absolute(env['XDG_CACHE_HOME']) ?? join(absolute(env['HOME']) ?? homeOfUser(), '.cache');
  return absolute(env['PILOT_AGENT_CACHE']) ?? join(userCache(), 'pilot-agent', 'envoy');
}

function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    return '/var';
  }
}
