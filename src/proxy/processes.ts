import { renameSync } from 'node:fs';
import { of, throwError } from 'rxjs';
import { type AdminClient, adminClient } from './admin-client.ts';
import type { Launch } from '../epochs/ports.ts';
import { remove } from '../shared/files/whole-file.ts';
import type { RestartAddress, RestartAddresses } from './restart-addresses.ts';
import { orphanReaper } from './orphan-reaper.ts';
import type { DetachedEnvoys } from './detached-envoys.ts';
import type { AdoptedEnvoy } from './adopted-envoys.ts';
import type { Tools } from './spawn-envoy.ts';

/** A process that was started, or is about to be, and has not ended. */
export interface RunningProcess extends RestartAddress {
  readonly epoch: number;
  readonly restartEpoch: number;
  readonly lineage: number;
  /** The path of a separate copy of the configuration. */
  readonly config: string;
  pid: number | undefined;
  /** The identity of the binary that it was started from; '' before its start, or if adopted. */
  identity: string;
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
  readonly restartAddresses: RestartAddresses;
}

/**
 * Returns the processes of one agent, each with the restart address of its lineage and its admin
 * endpoint. Removes their files after their end.
 *
 * Two lineages that run side by side have an admin endpoint each. `admin` and `addressFile` lead to
 * the one that was published last.
 */
export function processes(premises: Premises) {
  const { admin, addressFile, detached, restartAddresses } = premises;
  const running = new Set<RunningProcess>();
  const reapers: Reapers = new Map();
  const find = (epoch: number): RunningProcess | undefined =>
    [...running].findLast((process) => process.epoch === epoch);
  const newest = (): RunningProcess | undefined => [...running].at(-1);
  return {
    /**
     * Adds a process. `adopted` runs already. Throws the system's error if no restart address
     * can be made for a new lineage.
     */
    enter(launch: Launch, adopted: AdoptedEnvoy | undefined): RunningProcess {
      const process = entering(launch, adopted, running, premises);
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
      if (detached === undefined) reap(process, reapers, premises);
    },

    /**
     * Publishes the admin endpoint of the newest process, if it is not published yet. The processes
     * that were published before it keep their endpoints, under another address file.
     */
    publishAdmin(epoch: number): void {
      const process = newest();
      if (process?.epoch !== epoch || process.admin === admin) return;
      replaceAdmin(process, running, premises);
      detached?.remember(running);
    },

    /** Stops watching a process. If it runs on, its files stay. */
    leave(process: RunningProcess): void {
      if (detached !== undefined && process.pid !== undefined && !process.ended)
        restartAddresses.leave(process);
      else {
        running.delete(process);
        clear(process, { running, reapers }, premises);
      }
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

/** Makes the process of a launch, with the restart address of its lineage. */
function entering(
  { epoch, restartEpoch, lineage }: Launch,
  adopted: AdoptedEnvoy | undefined,
  running: ReadonlySet<RunningProcess>,
  { admin, addressFile, folder, restartAddresses }: Premises,
): RunningProcess {
  const kin = adopted ?? [...running].find((other) => other.lineage === lineage);
  const { baseId, socketPath } = kin ?? restartAddresses.make();
  if (adopted !== undefined) restartAddresses.enter(adopted);
  else if (running.size === 0) remove(addressFile);
  const isSeparate = adopted !== undefined && adopted.addressFile !== addressFile;
  return {
    ...{ epoch, restartEpoch, lineage, baseId, socketPath },
    config: `${folder}/envoy-beside-${epoch}.json`,
    pid: adopted?.pid,
    identity: '',
    addressFile: isSeparate ? adopted.addressFile : addressFile,
    admin: isSeparate ? adminClient(adopted.addressFile, 0) : admin,
    seenLive: false,
    ended: false,
  };
}

/** Starts the reaper for the restart address of a process, if there is none yet. */
function reap(process: RunningProcess, reapers: Reapers, { tools }: Premises): void {
  const reaper = reapers.has(process.baseId) ? undefined : orphanReaper(tools, process);
  if (reaper !== undefined) reapers.set(process.baseId, reaper);
}

/** Returns the address file of the processes that were published before. */
function formerAddress(addressFile: string): string {
  return `${addressFile}-former`;
}

/** Publishes the admin endpoint of a process in the place of any other process. */
function replaceAdmin(
  process: RunningProcess,
  running: ReadonlySet<RunningProcess>,
  { admin, addressFile }: Premises,
): void {
  const former = formerAddress(addressFile);
  const sameAdmin = [...running].filter((other) => other.admin === admin);
  if (sameAdmin.length > 0) rename(addressFile, former);
  for (const other of sameAdmin) {
    other.addressFile = former;
    other.admin = adminClient(former, 0);
  }
  rename(process.addressFile, addressFile);
  process.addressFile = addressFile;
  process.admin = admin;
}

/** A function for each base id that ends its reaper. */
type Reapers = Map<number, () => void>;

interface Left {
  readonly running: ReadonlySet<RunningProcess>;
  readonly reapers: Reapers;
}

/** Removes the files of a process that no other process uses, and its entry for the next agent. */
function clear(
  gone: RunningProcess,
  { running, reapers }: Left,
  { addressFile, detached, restartAddresses }: Premises,
): void {
  const others = [...running];
  if (others.every((other) => other.baseId !== gone.baseId)) {
    reapers.get(gone.baseId)?.();
    reapers.delete(gone.baseId);
    restartAddresses.clear(gone);
  }
  if (others.every((other) => other.addressFile !== gone.addressFile)) remove(gone.addressFile);
  if (running.size === 0)
    for (const left of [addressFile, formerAddress(addressFile)]) remove(left);
  remove(gone.config);
  detached?.clear(gone);
  detached?.remember(running);
}

/** The processes of one agent. */
export type Processes = ReturnType<typeof processes>;

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It did not exist, or its folder is gone: then nobody finds the address, and the question
    // fails.
  }
}
