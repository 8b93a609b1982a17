// Why: docs/decisions/003-sockets-have-a-folder.md
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { remove } from '../shared/files/whole-file.ts';
import { holdBaseId, type ReservedBaseId, reserveBaseId, sharedMemoryOf } from './base-ids.ts';

/** The base id and sockets by which the Envoys of one lineage find each other, and no others. */
export interface RestartAddress {
  /** `--base-id`. */
  readonly baseId: number;
  /**
   * `--socket-path`: the start of the paths of their sockets. '' for the abstract sockets of an
   * Envoy that an earlier agent left.
   */
  readonly socketPath: string;
}

export interface RestartAddresses {
  /**
   * Reserves a base id that no other agent has, and makes a folder for the sockets. Throws the
   * system's error if it cannot be made.
   */
  make(): RestartAddress;
  /** Reserves the address that adopted Envoys use already. */
  enter(address: RestartAddress): void;
  /** Removes the files that the last Envoy with this address left, and releases the address. */
  clear(address: RestartAddress): void;
  /** Releases the address and removes no files: the agent ends, and its Envoys run on. */
  leave(address: RestartAddress): void;
}

/**
 * The longest path of a socket: sockaddr_un without its final zero (unix(7)). Envoy aborts if a
 * path is longer.
 */
const longest = 107;
/** The start of the names of its sockets. */
const stem = '/s';
/** The longest text that Envoy 1.36 appends to `--socket-path`. */
const appended = '_udp_parent_1999999999';
const folderName = /^envoy-\d+$/;

/**
 * Returns the restart addresses of one agent. The sockets of each address have a folder with mode
 * 0700 in `folder`. If that path is too long, or there is no room, their folder is in the one for
 * temporary files, or else in `/dev/shm`, without which no Envoy starts.
 */
export function restartAddresses(folder: string, reserve = reserveBaseId): RestartAddresses {
  const reservations = new Map<number, ReservedBaseId>();

  function leave({ baseId }: RestartAddress): void {
    reservations.get(baseId)?.release();
    reservations.delete(baseId);
  }

  return {
    make() {
      const reservation = reserve();
      const { baseId } = reservation;
      try {
        const socketPath = `${privateFolder(`${folder}/envoy-${baseId}`)}${stem}`;
        reservations.set(baseId, reservation);
        return { baseId, socketPath };
      } catch (error) {
        reservation.release();
        throw error;
      }
    },
    enter({ baseId }) {
      if (reservations.has(baseId)) return;
      const reservation = holdBaseId(baseId);
      if (reservation !== undefined) reservations.set(baseId, reservation);
    },
    clear(address) {
      remove(sharedMemoryOf(address.baseId));
      if (address.socketPath !== '') removeSockets(dirname(address.socketPath));
      leave(address);
    },
    leave,
  };
}

function privateFolder(first: string): string {
  const fits = (path: string) => Buffer.byteLength(`${path}${stem}${appended}`) <= longest;
  if (fits(first)) {
    try {
      mkdirSync(first, { mode: 0o700 });
      return first;
    } catch {
      // The disk is full.
    }
  }
  const others = [tmpdir(), '/dev/shm']
    .map((path) => `${path}/pilot-agent-`)
    .filter((path) => fits(`${path}XXXXXX`));
  const [other = '', last = other] = others;
  try {
    return mkdtempSync(other);
  } catch {
    return mkdtempSync(last);
  }
}

/**
 * Whether an agent with `folder` can have made this address. A recorded path may be any path.
 */
export function isRestartAddress({ baseId, socketPath }: RestartAddress, folder: string): boolean {
  if (socketPath === '') return true;
  if (!socketPath.endsWith(stem)) return false;
  const socketFolder = socketPath.slice(0, -stem.length);
  const parent = /^(.+)\/pilot-agent-\w{6}$/.exec(socketFolder)?.[1];
  return (
    socketFolder === `${folder}/envoy-${baseId}` ||
    ((parent === tmpdir() || parent === '/dev/shm') && isPrivate(socketFolder))
  );
}

/** Whether the path is a folder, not a link, that only this user can access. */
function isPrivate(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return (
    stats?.isDirectory() === true && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0
  );
}

/** Removes from `folder` the sockets that dead Envoys left, except those of `kept`. */
export function removeRestartSockets(folder: string, kept: readonly RestartAddress[]): void {
  const used = new Set(kept.map(({ socketPath }) => dirname(socketPath)));
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`;
    if (folderName.test(name) && !used.has(path) && isPrivate(path)) removeSockets(path);
  }
}

function removeSockets(path: string): void {
  try {
    for (const name of readdirSync(path)) remove(`${path}/${name}`);
    rmdirSync(path);
  } catch {
    // It is gone already.
  }
}
