import type { Verdict } from '../agent/ports.ts';
import { crowded, residentOf } from './crowded.ts';
import { hotRestartVersion, identityOf } from './hot-restart-version.ts';
import { memory } from './memory.ts';

/**
 * The verdict on a configuration that would work, with what there is to know of the Envoy that runs as `pid`: whether there is room for another one, and
 * whether one from `binary` as it is now can be its child. `started` is what that was when the newest Envoy was started. Never rejects.
 */
export async function related(verdict: Verdict, binary: string, started: string, pid: number | undefined): Promise<Verdict> {
  if (pid === undefined) return verdict;
  const reason = crowded(memory(), residentOf(pid));
  if (reason !== undefined) return { ok: true, crowded: reason };
  if (identityOf(binary) === started) return verdict;
  const [now, before] = await Promise.all([hotRestartVersion(binary), hotRestartVersion(`/proc/${pid}/exe`)]);
  return now === before ? verdict : { ok: true, apart: true };
}
