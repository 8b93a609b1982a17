import { cacheDir } from '../envoy/cache-dir.ts';
import { findEnvoy } from '../envoy/find-envoy.ts';
import { pinnedEnvoy } from '../envoy/pinned-envoy.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** Prints the path of the Envoy that `proxy` would run without `--binaryPath`. */
export function envoyPath(): void {
  const found = findEnvoy({ binaryPath: undefined, env: process.env, cacheDir: cacheDir(process.env), version: pinnedEnvoy.version });
  if (!found.ok) throw new Fatal(found.reason, exitCodes.unavailable);
  console.log(found.path);
}
