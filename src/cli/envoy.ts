import { cacheDir } from '../envoy/cache-dir.ts';
import { findEnvoy } from '../envoy/find-envoy.ts';
import { installEnvoy } from '../envoy/install-envoy.ts';
import { pinnedEnvoy } from '../envoy/pinned-envoy.ts';
import { showProgress } from '../envoy/show-progress.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** Puts an Envoy into the cache, the pinned version if none is named, and prints its path. Ctrl-C leaves nothing half-made. */
export async function install(wanted: string | undefined): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  try {
    const path = await installEnvoy({
      cacheDir: cacheDir(process.env),
      ...(wanted !== undefined && { version: wanted }),
      onProgress: showProgress(process.stderr),
      signal: interrupted.signal,
    });
    console.log(path);
  } catch (error) {
    throw new Fatal((error as Error).message, exitCodes.unavailable);
  }
}

/** Prints the path of the Envoy that `proxy` would run without `--binaryPath`. */
export function path(): void {
  const found = findEnvoy({ binaryPath: undefined, env: process.env, cacheDir: cacheDir(process.env), version: pinnedEnvoy.version });
  if (!found.ok) throw new Fatal(found.reason, exitCodes.unavailable);
  console.log(found.path);
}
