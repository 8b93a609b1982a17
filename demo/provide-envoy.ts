import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import { cacheDir, findEnvoy, pinnedEnvoy } from '../src/pilot-agent/envoy/find-envoy.ts';
import { installEnvoy } from '../src/pilot-agent/envoy/install-envoy.ts';
import { showProgress } from '../src/pilot-agent/envoy/show-progress.ts';

/**
 * Puts an Envoy into the cache if the agent would find none, and shows the progress on stderr.
 */
export async function provideEnvoy(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const cache = cacheDir(env);
  if (findEnvoy({ binaryPath: undefined, env, cacheDir: cache, version: pinnedEnvoy.version }).ok)
    return;
  process.stderr.write(
    `demo: there is no Envoy on this machine yet; downloading one to ${cache}\n`,
  );
  try {
    await installEnvoy({ cacheDir: cache, onProgress: showProgress(process.stderr), signal, env });
  } catch (error) {
    throw new Fatal((error as Error).message, exitCodes.unavailable);
  }
}
