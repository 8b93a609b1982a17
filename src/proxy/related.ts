import type { Verdict } from '../agent/ports.ts';
import { hotRestartVersion, identityOf } from './hot-restart-version.ts';

/**
 * The verdict on a configuration that would work, with what it needs to know of the Envoy that runs as `pid`: whether one from `binary` as it is now
 * can be its child. `started` is what that was when the newest Envoy was started. Never rejects.
 */
export async function related(verdict: Verdict, binary: string, started: string, pid: number | undefined): Promise<Verdict> {
  if (pid === undefined || identityOf(binary) === started) return verdict;
  const [now, before] = await Promise.all([hotRestartVersion(binary), hotRestartVersion(`/proc/${pid}/exe`)]);
  return now === before ? verdict : { ok: true, apart: true };
}
