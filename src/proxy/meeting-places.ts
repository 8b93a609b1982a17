// Why: docs/decisions/003-sockets-have-a-folder.md
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { remove } from '../shared/files/whole-file.ts';
import { holdBaseId, type ReservedBaseId, reserveBaseId, sharedMemoryOf } from './base-ids.ts';

/** By what the Envoys of one lineage find each other, and nobody else does. */
export interface MeetingPlace {
  /** `--base-id`. */
  readonly baseId: number;
  /**
   * `--socket-path`: how the paths of their sockets begin. '' for the abstract sockets of an Envoy
   * that an earlier agent has left.
   */
  readonly socketPath: string;
}

export interface MeetingPlaces {
  /**
   * One that no other agent has, with a folder for the sockets. Throws what the system says where
   * there can be none.
   */
  make(): MeetingPlace;
  /** One where Envoys that are adopted meet already. */
  enter(place: MeetingPlace): void;
  /** Removes what the last Envoy there has left. */
  clear(place: MeetingPlace): void;
  /** The agent goes, and its Envoys stay there. */
  leave(place: MeetingPlace): void;
}

/** What sockaddr_un holds, less its final zero (unix(7)): Envoy aborts where a path is longer. */
const longest = 107;
/** How the names of its sockets begin. */
const stem = '/s';
/** What Envoy 1.36 puts behind `--socket-path`, at most. */
const appended = '_udp_parent_1999999999';
const folderName = /^envoy-\d+$/;

/**
 * The meeting places of one agent. Their sockets are in `folder`, each place in a folder of its own
 * with mode 0700; where the path would be too long, or there is no room, below the folder for
 * temporary files, or else in `/dev/shm`, without which no Envoy starts.
 */
export function meetingPlaces(folder: string, reserve = reserveBaseId): MeetingPlaces {
  const held = new Map<number, ReservedBaseId>();

  function leave({ baseId }: MeetingPlace): void {
    held.get(baseId)?.release();
    held.delete(baseId);
  }

  return {
    make() {
      const reservation = reserve();
      const { baseId } = reservation;
      try {
        const socketPath = `${privateFolder(`${folder}/envoy-${baseId}`)}${stem}`;
        held.set(baseId, reservation);
        return { baseId, socketPath };
      } catch (error) {
        reservation.release();
        throw error;
      }
    },
    enter({ baseId }) {
      if (held.has(baseId)) return;
      const reservation = holdBaseId(baseId);
      if (reservation !== undefined) held.set(baseId, reservation);
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
 * Whether `socketPath` can be that of a meeting place of an agent that has `folder`: what is
 * written down somewhere may name any path.
 */
export function isMeetingPlace({ baseId, socketPath }: MeetingPlace, folder: string): boolean {
  if (socketPath === '') return true;
  if (!socketPath.endsWith(stem)) return false;
  const own = socketPath.slice(0, -stem.length);
  const found = /^(.+)\/pilot-agent-\w{6}$/.exec(own)?.[1];
  return (
    own === `${folder}/envoy-${baseId}` ||
    ((found === tmpdir() || found === '/dev/shm') && isPrivate(own))
  );
}

/** Whether that is a folder, no link to one, that only this user has to do with. */
function isPrivate(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return (
    stats?.isDirectory() === true && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0
  );
}

/** Removes from `folder` what dead Envoys have left of their sockets: all but those of `kept`. */
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
