import { cacheDir } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { installEnvoy } from '../../src/pilot-agent/envoy/install-envoy.ts';

/**
 * The oldest Envoy that the agent supports and that can be downloaded. The newest is the pinned
 * one.
 */
const version = '1.36.2';

/** Resolves to the path of that Envoy. Downloads it if it is not in the cache yet. */
export function oldestEnvoy(): Promise<string> {
  return installEnvoy({ cacheDir: cacheDir(process.env), version });
}
