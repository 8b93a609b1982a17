import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { asyncScheduler } from 'rxjs';
import { findExecutable } from '../../envoy/find-envoy.ts';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import { remove } from '../../../shared/files/whole-file.ts';
import { sharedMemoryOf } from '../../../proxy/base-ids.ts';
import type { DetachedEnvoys } from '../../../proxy/detached-envoys.ts';
import { removeMeetingPlaces } from '../../../proxy/meeting-places.ts';
import { staleEnvoys } from '../../../proxy/proc.ts';
import { attempt, exitCodes, Fatal } from '../../../shared/program/exit.ts';

/** The paths of programs. */
export interface DetachTools {
  readonly setsid: string;
  readonly sh: string;
}

/** Looks in the folders of `path` (`PATH`'s form). Throws a {@link Fatal} where one is missing. */
export function findDetachTools(path: string | undefined): DetachTools {
  const [setsid, sh] = ['setsid', 'sh'].map((name) => findExecutable(name, path));
  if (setsid !== undefined && sh !== undefined) return { setsid, sh };
  throw new Fatal('--keepEnvoy needs setsid (util-linux) and sh in PATH', exitCodes.unavailable);
}

export interface TakeOverOptions {
  /** What detached Envoys need; undefined without `--keepEnvoy`. */
  readonly tools: DetachTools | undefined;
  /** `--configPath`. */
  readonly folder: string;
  /** Where Envoy writes down its admin address. */
  readonly addressFile: string;
  readonly log: (line: LogLine) => void;
}

/**
 * Sees to what an agent that is gone has left in `folder`: its Envoys are killed, FIFOs and sockets
 * removed. With `tools` those that it has left on purpose are adopted instead; without them nothing
 * is returned. Rejects with a {@link Fatal} where that cannot be done.
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
    attempt(
      () => process.kill(pid, 'SIGKILL'),
      `an Envoy of an agent that is gone cannot be killed (${pid})`,
    );
    const memory = sharedMemoryOf(baseId);
    // The arguments of a process may name what is not its own.
    if (lstatSync(memory, { throwIfNoEntry: false })?.uid === uid) remove(memory);
  }
  removeFifos(folder);
  removeMeetingPlaces(folder, detached?.adopted ?? []);
  return detached;
}

/** Each is in the folder for a moment only: then its reader has it open. */
const fifo = /^envoy-(?:rev\d+|check|ahead)\.stderr$/;

/** Removes the FIFOs of an agent that was killed in such a moment. */
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
