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

/** A process that has been started, or is about to be, and has not ended. */
export interface RunningProcess extends MeetingPlace {
  readonly epoch: number;
  readonly restartEpoch: number;
  readonly lineage: number;
  /** For a configuration of its own. */
  readonly config: string;
  pid: number | undefined;
  /** Where it writes down its admin address. */
  addressFile: string;
  /** Who is asked about it. */
  admin: AdminClient;
  /** Once it is, it is enough that somebody answers. */
  seenLive: boolean;
  /** Its exit was seen. One that outlives the agent has none. */
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
 * The processes of one agent, each with the meeting place of its lineage and its admin endpoint,
 * and what has to be cleared away after them.
 *
 * Two lineages that run side by side have an admin endpoint each. The one that was published last
 * is where `admin` and `addressFile` lead.
 */
export function processes({ admin, addressFile, folder, tools, detached, places }: Premises) {
  const running = new Set<RunningProcess>();
  const reapers = new Map<number, () => void>();
  const former = `${addressFile}-former`;

  const find = (epoch: number): RunningProcess | undefined =>
    [...running].findLast((process) => process.epoch === epoch);

  const newest = (): RunningProcess | undefined => [...running].at(-1);

  function clear(gone: RunningProcess): void {
    const { baseId, addressFile: own, config } = gone;
    if ([...running].every((other) => other.baseId !== baseId)) {
      reapers.get(baseId)?.();
      reapers.delete(baseId);
      places.clear(gone);
    }
    if ([...running].every((other) => other.addressFile !== own)) remove(own);
    if (running.size === 0) for (const left of [addressFile, former]) remove(left);
    remove(config);
    detached?.clear(gone);
  }

  return {
    /**
     * `adopted` runs already. Throws what the system says where the Envoys of a new lineage can
     * have no place to meet.
     */
    enter(
      { epoch, restartEpoch, lineage }: Launch,
      adopted: AdoptedEnvoy | undefined,
    ): RunningProcess {
      const kin = adopted ?? [...running].find((other) => other.lineage === lineage);
      const { baseId, socketPath } = kin ?? places.make();
      if (adopted !== undefined) places.enter(adopted);
      if (running.size === 0 && adopted === undefined) remove(addressFile);
      const own = {
        ...{ epoch, restartEpoch, lineage, baseId, socketPath, addressFile, admin },
        config: `${folder}/envoy-beside-${epoch}.json`,
        pid: adopted?.pid,
        seenLive: false,
        ended: false,
      };
      if (adopted !== undefined && adopted.addressFile !== addressFile) {
        own.addressFile = adopted.addressFile;
        own.admin = adminClient(adopted.addressFile, 0);
      }
      running.add(own);
      return own;
    },

    /** It runs beside another lineage, with its admin endpoint at a port of its own. */
    placeSideBySide(own: RunningProcess, port: number): void {
      own.addressFile = `${addressFile}-${own.epoch}`;
      own.admin = adminClient(own.addressFile, port);
    },

    born(own: RunningProcess, pid: number): void {
      own.pid = pid;
      detached?.remember(running);
      const reaper =
        detached === undefined && !reapers.has(own.baseId) ? orphanReaper(tools, own) : undefined;
      if (reaper !== undefined) reapers.set(own.baseId, reaper);
    },

    /**
     * The newest one is the one that is asked from now on, if it was not, and those that were keep
     * an endpoint of their own.
     */
    publishAdmin(epoch: number): void {
      const own = newest();
      if (own?.epoch !== epoch || own.admin === admin) return;
      const asked = [...running].filter((other) => other.admin === admin);
      if (asked.length > 0) rename(addressFile, former);
      for (const other of asked) {
        other.addressFile = former;
        other.admin = adminClient(former, 0);
      }
      rename(own.addressFile, addressFile);
      own.addressFile = addressFile;
      own.admin = admin;
      detached?.remember(running);
    },

    /** Nobody looks after it any more. What lives on needs all that it has. */
    leave(own: RunningProcess): void {
      if (detached !== undefined && own.pid !== undefined && !own.ended) {
        places.leave(own);
        return;
      }
      running.delete(own);
      clear(own);
      detached?.remember(running);
    },

    find,
    /**
     * Who is asked about that epoch. Where there is no such process nobody answers: whoever has its
     * address now is another one.
     */
    adminOf: (epoch: number): AdminClient => find(epoch)?.admin ?? nobody,
    newest,
  };
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It was not there, or its folder is gone: then nobody finds the address, and the question
    // fails.
  }
}
