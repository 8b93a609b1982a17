import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

export type FoundEnvoy =
  | { readonly ok: true; readonly path: string; readonly from: 'binary-path' | 'default-path' | 'envoy-bin' | 'path' | 'cache' }
  | { readonly ok: false; readonly reason: string };

export interface FindOptions {
  /** What `--binaryPath` gave: used, and never searched past. A bare name is looked up in `PATH`, as the Go agent does. */
  readonly binaryPath: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cacheDir: string;
  readonly version: string;
  readonly defaultPath?: string;
}

/**
 * The Envoy to run, or one line that says where it was looked for and what to do. Synchronous, a few file-system calls; never throws.
 *
 * Each candidate must be a regular file that this user may execute.
 */
export function findEnvoy({ binaryPath, env, cacheDir, version, defaultPath = '/usr/local/bin/envoy' }: FindOptions): FoundEnvoy {
  const inPath = (name: string) => {
    const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder !== '');
    return folders.map((folder) => join(folder, name)).find((path) => flaw(path) === undefined);
  };

  if (binaryPath !== undefined) {
    const path = binaryPath.includes('/') ? binaryPath : inPath(binaryPath);
    const wrong = path === undefined ? 'is not in PATH' : flaw(path);
    if (path !== undefined && wrong === undefined) return { ok: true, path, from: 'binary-path' };
    return { ok: false, reason: `--binaryPath ${binaryPath} ${wrong ?? ''}` };
  }

  const envoyBin = env['ENVOY_BIN'];
  const cached = join(cacheDir, version, 'envoy');
  const looked: string[] = [];
  const usable = (path: string) => {
    const wrong = flaw(path);
    if (wrong !== undefined) looked.push(`${path} ${wrong}`);
    return wrong === undefined;
  };

  if (usable(defaultPath)) return { ok: true, path: defaultPath, from: 'default-path' };
  if (envoyBin !== undefined && envoyBin !== '' && usable(envoyBin)) return { ok: true, path: envoyBin, from: 'envoy-bin' };
  const path = inPath('envoy');
  if (path !== undefined) return { ok: true, path, from: 'path' };
  looked.push('envoy is not in PATH');
  if (usable(cached)) return { ok: true, path: cached, from: 'cache' };
  return { ok: false, reason: `no Envoy found: ${looked.join(', ')}; give --binaryPath, set ENVOY_BIN, or run: pilot-agent envoy install` };
}

function flaw(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'does not exist';
    if (!found.isFile()) return 'is not a regular file';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'may not be executed by this user' : `cannot be read (${String(error)})`;
  }
}
