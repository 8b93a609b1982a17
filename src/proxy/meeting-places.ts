// Why: docs/decisions/003-sockets-have-a-folder.md
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { remove } from '../shared/files/whole-file.ts';
import { holdBaseId, type ReservedBaseId, reserveBaseId, sharedMemoryOf } from './base-ids.ts';

/** The base id and sockets by which only the Envoys of one lineage find each other. */
export interface MeetingPlace {
  /** `--base-id`. */
  readonly baseId: number;
  /**
   * `--socket-path`: the start of the paths of their sockets. '' for the abstract sockets of an
   * Envoy that an earlier agent left.
   */
  readonly socketPath: string;
}

export interface MeetingPlaces {
  /**
   * Makes a place that no other agent has, with a folder for the sockets. Throws the system's error
   * if it cannot be made.
   */
  make(): MeetingPlace;
  /** Enters the place where adopted Envoys meet already. */
  enter(place: MeetingPlace): void;
  /** Removes what the last Envoy of the place left. */
  clear(place: MeetingPlace): void;
  /** Gives the place up without removing anything: the agent ends, and its Envoys stay there. */
  leave(place: MeetingPlace): void;
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
 * Returns the meeting places of one agent. Each place has its own folder with mode 0700 for its
 * sockets, in `folder`. If that path is too long, or there is no room, the folder is below the one
 * for temporary files, or else in `/dev/shm`, without which no Envoy starts.
 */
export function meetingPlaces(folder: string, reserve = reserveBaseId): MeetingPlaces {
  const reservations = new Map<number, ReservedBaseId>();

  function leave({ baseId }: MeetingPlace): void {
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
    clear(place) {
      remove(sharedMemoryOf(place.baseId));
      if (place.socketPath !== '') removeSockets(dirname(place.socketPath));
      leave(place);
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
 * Whether `socketPath` can be a meeting place of an agent with `folder`: a recorded path may be any
 * path.
 */
export function isMeetingPlace({ baseId, socketPath }: MeetingPlace, folder: string): boolean {
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
export function removeMeetingPlaces(folder: string, kept: readonly MeetingPlace[]): void {
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
