import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { asyncScheduler } from 'rxjs';
import { findExecutable } from '../../envoy/find-envoy.ts';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import { remove } from '../../../shared/files/whole-file.ts';
import { sharedMemoryOf } from '../../../proxy/base-ids.ts';
import type { DetachedEnvoys } from '../../../proxy/detached-envoys.ts';
import { removeRestartSockets } from '../../../proxy/restart-addresses.ts';
import { staleEnvoys } from '../../../proxy/proc.ts';
import { attempt, exitCodes, Fatal } from '../../../shared/program/exit.ts';

export interface DetachTools {
  readonly setsid: string;
  readonly sh: string;
}

/**
 * Searches the folders of `path` (`PATH`'s form). Throws a {@link Fatal} if a program is missing.
 */
export function findDetachTools(path: string | undefined): DetachTools {
  const [setsid, sh] = ['setsid', 'sh'].map((name) => findExecutable(name, path));
  if (setsid !== undefined && sh !== undefined) return { setsid, sh };
  throw new Fatal('--keepEnvoy needs setsid (util-linux) and sh in PATH', exitCodes.unavailable);
}

export interface TakeOverOptions {
  /** The programs that detached Envoys need; undefined without `--keepEnvoy`. */
  readonly tools: DetachTools | undefined;
  /** `--configPath`. */
  readonly folder: string;
  /** The file into which Envoy writes its admin address. */
  readonly addressFile: string;
  readonly log: (line: LogLine) => void;
}

/**
 * Cleans up what an ended agent has left in `folder`: kills its Envoys, removes FIFOs and sockets.
 * With `tools`, the Envoys that it left on purpose are adopted instead; without them it returns
 * nothing. Rejects with a {@link Fatal} if that is not possible.
 */
export async function takeOver({
  tools,
  folder,
  addressFile,
  log,
}: TakeOverOptions): Promise<DetachedEnvoys | undefined> {
  const detached = tools && (await makeDetached(folder, tools, log));
  for (const { pid, uid, baseId } of staleEnvoys(addressFile, readlinkSync('/proc/self/exe'))) {
    if (detached?.adopted.some((adopted) => adopted.pid === pid) === true) continue;
    log(line('envoy.orphan_killed', { pid }));
    attempt(() => kill(pid), `an Envoy of an agent that is gone cannot be killed (${pid})`);
    const memory = sharedMemoryOf(baseId);
    // The arguments of a process may name a file that is not its own.
    if (lstatSync(memory, { throwIfNoEntry: false })?.uid === uid) remove(memory);
  }
  removeFifos(folder);
  removeRestartSockets(folder, detached?.adopted ?? []);
  return detached;
}

/** Kills a process, if it has not just ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A FIFO is in the folder only until its reader has opened it, which takes a moment. */
const fifo = /^envoy-(?:rev\d+|check|ahead)\.stderr$/;

/** Removes the FIFOs of an agent that was killed before that. */
export function removeFifos(folder: string): void {
  for (const name of readdirSync(folder)) if (fifo.test(name)) remove(`${folder}/${name}`);
}

async function makeDetached(
  folder: string,
  tools: DetachTools,
  log: TakeOverOptions['log'],
): Promise<DetachedEnvoys> {
  const { detachedEnvoys } = await import('../../../proxy/detached-envoys.ts');
  return detachedEnvoys({ ...tools, folder, log, scheduler: asyncScheduler });
}
