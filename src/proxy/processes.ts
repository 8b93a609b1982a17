import { renameSync } from 'node:fs';
import { of, throwError } from 'rxjs';
import { type AdminClient, adminClient } from './admin-client.ts';
import type { Launch } from '../epochs/ports.ts';
import { remove } from '../shared/files/whole-file.ts';
import type { MeetingPlace, MeetingPlaces } from './meeting-places.ts';
import { orphanReaper } from './orphan-reaper.ts';
import type { DetachedEnvoys } from './detached-envoys.ts';
import type { AdoptedEnvoy } from './adopted-envoys.ts';
import type { Tools } from './spawn-envoy.ts';

/** A process that was started, or is about to be, and has not ended. */
export interface RunningProcess extends MeetingPlace {
  readonly epoch: number;
  readonly restartEpoch: number;
  readonly lineage: number;
  /** The path of a separate copy of the configuration. */
  readonly config: string;
  pid: number | undefined;
  /** The file to which it writes its admin address. */
  addressFile: string;
  /** The client of its admin endpoint. */
  admin: AdminClient;
  /** It was LIVE before; then any LIVE answer is enough. */
  seenLive: boolean;
  /** The agent saw its exit. The exit of an Envoy that outlives the agent is not seen. */
  ended: boolean;
}

const absent = new Error('there is no such process');
const nobody: AdminClient = {
  request: () => of({ ok: false, error: absent }),
  open: () => throwError(() => absent),
  located: () => false,
};

interface Premises {
  readonly admin: AdminClient;
  readonly addressFile: string;
  readonly folder: string;
  readonly tools: Tools;
  readonly detached?: DetachedEnvoys | undefined;
  readonly places: MeetingPlaces;
}

/**
 * Returns the processes of one agent, each with the meeting place of its lineage and its admin
 * endpoint, and removes their files after their end.
 *
 * Two lineages that run side by side have an admin endpoint each. `admin` and `addressFile` lead to
 * the one that was published last.
 */
export function processes({ admin, addressFile, folder, tools, detached, places }: Premises) {
  const running = new Set<RunningProcess>();
  const reapers = new Map<number, () => void>();
  const former = `${addressFile}-former`;

  const find = (epoch: number): RunningProcess | undefined =>
    [...running].findLast((process) => process.epoch === epoch);

  const newest = (): RunningProcess | undefined => [...running].at(-1);

  function clear(gone: RunningProcess): void {
    const { baseId, addressFile: ownAddressFile, config } = gone;
    if ([...running].every((other) => other.baseId !== baseId)) {
      reapers.get(baseId)?.();
      reapers.delete(baseId);
      places.clear(gone);
    }
    if ([...running].every((other) => other.addressFile !== ownAddressFile)) remove(ownAddressFile);
    if (running.size === 0) for (const left of [addressFile, former]) remove(left);
    remove(config);
    detached?.clear(gone);
  }

  return {
    /**
     * Adds a process. `adopted` runs already. Throws the system's error if no meeting place can be
     * made for a new lineage.
     */
    enter(
      { epoch, restartEpoch, lineage }: Launch,
      adopted: AdoptedEnvoy | undefined,
    ): RunningProcess {
      const kin = adopted ?? [...running].find((other) => other.lineage === lineage);
      const { baseId, socketPath } = kin ?? places.make();
      if (adopted !== undefined) places.enter(adopted);
      if (running.size === 0 && adopted === undefined) remove(addressFile);
      const process = {
        ...{ epoch, restartEpoch, lineage, baseId, socketPath, addressFile, admin },
        config: `${folder}/envoy-beside-${epoch}.json`,
        pid: adopted?.pid,
        seenLive: false,
        ended: false,
      };
      if (adopted !== undefined && adopted.addressFile !== addressFile) {
        process.addressFile = adopted.addressFile;
        process.admin = adminClient(adopted.addressFile, 0);
      }
      running.add(process);
      return process;
    },

    /** Gives the process a separate admin port, because it runs beside another lineage. */
    placeSideBySide(process: RunningProcess, port: number): void {
      process.addressFile = `${addressFile}-${process.epoch}`;
      process.admin = adminClient(process.addressFile, port);
    },

    born(process: RunningProcess, pid: number): void {
      process.pid = pid;
      detached?.remember(running);
      const reaper =
        detached === undefined && !reapers.has(process.baseId)
          ? orphanReaper(tools, process)
          : undefined;
      if (reaper !== undefined) reapers.set(process.baseId, reaper);
    },

    /**
     * Publishes the admin endpoint of the newest process, if it is not published yet. The processes
     * that were published keep a separate endpoint.
     */
    publishAdmin(epoch: number): void {
      const process = newest();
      if (process?.epoch !== epoch || process.admin === admin) return;
      const asked = [...running].filter((other) => other.admin === admin);
      if (asked.length > 0) rename(addressFile, former);
      for (const other of asked) {
        other.addressFile = former;
        other.admin = adminClient(former, 0);
      }
      rename(process.addressFile, addressFile);
      process.addressFile = addressFile;
      process.admin = admin;
      detached?.remember(running);
    },

    /** Stops watching a process. If it runs on, its files stay. */
    leave(process: RunningProcess): void {
      if (detached !== undefined && process.pid !== undefined && !process.ended) {
        places.leave(process);
        return;
      }
      running.delete(process);
      clear(process);
      detached?.remember(running);
    },

    find,
    /**
     * Returns the client of the epoch's admin endpoint. If there is no such process, the client
     * fails at once: another process may have that address now.
     */
    adminOf: (epoch: number): AdminClient => find(epoch)?.admin ?? nobody,
    newest,
  };
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It did not exist, or its folder is gone: then nobody finds the address, and the question
    // fails.
  }
}
