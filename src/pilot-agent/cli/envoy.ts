import { cacheDir } from '../envoy/find-envoy.ts';
import { installEnvoy } from '../envoy/install-envoy.ts';
import { showProgress } from '../envoy/show-progress.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { envoyBinary } from '../run/start/hold-folder.ts';

export interface EnvoyInstallOptions {
  readonly from?: string;
  readonly sha256?: string;
}

/**
 * Installs an Envoy into the cache, the pinned version if none is named, and prints its path.
 * Ctrl-C leaves no partial files.
 */
export async function envoyInstall(
  version: string | undefined,
  options: EnvoyInstallOptions,
): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  try {
    const path = await installEnvoy({
      cacheDir: cacheDir(process.env),
      ...(version !== undefined && { version }),
      ...options,
      onProgress: showProgress(process.stderr),
      signal: interrupted.signal,
    });
    console.log(path);
  } catch (error) {
    throw new Fatal((error as Error).message, exitCodes.unavailable);
  }
}

/** Prints the path of the Envoy that `proxy` would run without `--binaryPath`. */
export function envoyPath(): void {
  console.log(envoyBinary(undefined));
}
