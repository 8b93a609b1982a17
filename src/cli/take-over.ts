import { readlinkSync, rmSync } from 'node:fs';
import { asyncScheduler } from 'rxjs';
import { findExecutable } from '../envoy/find-executable.ts';
import type { LogLine } from '../log/log-line.ts';
import { sharedMemoryOf } from '../proxy/free-base-id.ts';
import type { Keeper } from '../proxy/keeper.ts';
import { staleEnvoys } from '../proxy/stale-envoys.ts';
import { attempt } from './attempt.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

export interface Estate {
  /** `--keepEnvoy`. */
  readonly keep: boolean;
  /** `--configPath`. */
  readonly folder: string;
  /** Where Envoy writes down its admin address. */
  readonly addressFile: string;
  /** `PATH`. */
  readonly path: string | undefined;
  readonly tell: (line: LogLine) => void;
}

/**
 * Sees to what an agent that is gone has left in `folder`: Envoys are killed, but for those that were kept, which go to the keeper that is returned. Without
 * `keep` none is kept, and there is no keeper. Rejects with a {@link Fatal} where that cannot be done.
 */
export async function takeOver({ keep, folder, addressFile, path, tell }: Estate): Promise<Keeper | undefined> {
  const keeper = keep ? await makeKeeper(folder, path, tell) : undefined;
  for (const { pid, baseId } of staleEnvoys(addressFile, readlinkSync('/proc/self/exe'))) {
    if (keeper?.kept.some((kept) => kept.pid === pid) === true) continue;
    tell({ level: 'warn', msg: 'an Envoy of an agent that is gone is killed', pid });
    attempt(() => process.kill(pid, 'SIGKILL'), `an Envoy of an agent that is gone cannot be killed (${pid})`);
    rmSync(sharedMemoryOf(baseId), { force: true });
  }
  return keeper;
}

async function makeKeeper(folder: string, path: string | undefined, tell: Estate['tell']): Promise<Keeper> {
  const { keeper } = await import('../proxy/keeper.ts');
  const { claimFolder } = await import('../proxy/claim-folder.ts');
  const [setsid, sh] = ['setsid', 'sh'].map((name) => findExecutable(name, path));
  if (setsid === undefined || sh === undefined) {
    throw new Fatal('--keepEnvoy needs setsid (util-linux) and sh in PATH', exitCodes.unavailable);
  }
  if (!(await claimFolder(folder))) throw new Fatal(`--configPath ${folder} belongs to another agent that runs`, exitCodes.unavailable);
  return keeper({ setsid, sh, folder, tell, scheduler: asyncScheduler });
}
