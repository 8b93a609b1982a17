import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import { asyncScheduler } from 'rxjs';
import { findExecutable } from '../envoy/find-envoy.ts';
import type { LogLine } from '../log/log-line.ts';
import { remove } from '../files/whole-file.ts';
import type { DetachedEnvoys } from '../proxy/detached-envoys.ts';
import { sharedMemoryOf, staleEnvoys } from '../proxy/proc.ts';
import { attempt, exitCodes, Fatal } from './exit.ts';

export interface TakeOverOptions {
  /** `--keepEnvoy`. */
  readonly keep: boolean;
  /** `--configPath`. */
  readonly folder: string;
  /** Where Envoy writes down its admin address. */
  readonly addressFile: string;
  /** `PATH`. */
  readonly path: string | undefined;
  readonly log: (line: LogLine) => void;
}

/**
 * Sees to what an agent that is gone has left in `folder`: its Envoys are killed, and FIFOs
 * removed. With `keep` those that it has left on purpose are adopted instead; without it nothing is
 * returned. Rejects with a {@link Fatal} where that cannot be done.
 */
export async function takeOver({ keep, folder, addressFile, path, log }: TakeOverOptions): Promise<DetachedEnvoys | undefined> {
  const detached = keep ? await makeDetached(folder, path, log) : undefined;
  for (const { pid, baseId } of staleEnvoys(addressFile, readlinkSync('/proc/self/exe'))) {
    if (detached?.adopted.some((adopted) => adopted.pid === pid) === true) continue;
    log({ level: 'warn', event: 'envoy.orphan_killed', msg: 'an Envoy of an agent that is gone is killed', pid });
    attempt(() => process.kill(pid, 'SIGKILL'), `an Envoy of an agent that is gone cannot be killed (${pid})`);
    rmSync(sharedMemoryOf(baseId), { force: true });
  }
  removeFifos(folder);
  return detached;
}

/** Each is in the folder for a moment only: then its reader has it open. */
const fifo = /^(?:envoy-rev\d+|validate)\.stderr$/;

/** Removes the FIFOs of an agent that was killed in such a moment. */
export function removeFifos(folder: string): void {
  for (const name of readdirSync(folder)) if (fifo.test(name)) remove(`${folder}/${name}`);
}

async function makeDetached(folder: string, path: string | undefined, log: TakeOverOptions['log']): Promise<DetachedEnvoys> {
  const { detachedEnvoys } = await import('../proxy/detached-envoys.ts');
  const [setsid, sh] = ['setsid', 'sh'].map((name) => findExecutable(name, path));
  if (setsid === undefined || sh === undefined) {
    throw new Fatal('--keepEnvoy needs setsid (util-linux) and sh in PATH', exitCodes.unavailable);
  }
  return detachedEnvoys({ setsid, sh, folder, log, scheduler: asyncScheduler });
}
