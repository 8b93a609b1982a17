// Why: docs/decisions/002-base-ids-are-random.md
import { randomBytes, randomInt } from 'node:crypto';
import { accessSync, constants, readdirSync, renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { privately } from '../shared/files/privately.ts';
import { remove } from '../shared/files/whole-file.ts';

/** Envoy multiplies `--base-id` by this, and keeps the numbers between for its epochs. */
const factor = 10;
/**
 * Above 2³¹ what Envoy makes of it wraps (seen with 1.36.2: a socket
 * `…_18446744072414584320`).
 */
const highest = 200_000_000;

/** Where Envoys share memory, and agents that share this folder stay apart. */
const folder = '/dev/shm';
/** The socket of a reservation: the base id, and what makes the name one that never comes again. */
const reserved = /^pilot-agent-(\d+)-[0-9a-f]{16}(?:\.new)?$/;
const memory = /^envoy_shared_memory_(\d+)$/;
/** So many others are looked at, and so many ids are drawn: anybody may fill that folder. */
const most = 100;

/** What Envoy leaves in `/dev/shm` for a base id, whichever way it ends. */
export function sharedMemoryOf(baseId: number): string {
  return `/dev/shm/envoy_shared_memory_${baseId * factor}`;
}

/** A base id that no other agent draws until `release`, or the end of this process. */
export interface ReservedBaseId {
  readonly baseId: number;
  /** May be called again. */
  release(): void;
}

/**
 * Draws a base id that nobody has, and reserves it. Throws what the system says where there is no
 * `/dev/shm` that can be written, without which no Envoy starts. Synchronous.
 *
 * A reservation is a socket on which this process listens, under a name that is never used again.
 * It is put there first, and then all others are looked at: of two agents that draw the same id at
 * least one sees the other, whatever else they do not share, and draws again. The socket of a dead
 * agent answers nobody: who finds it removes it.
 */
export function reserveBaseId(draw = () => randomInt(1, highest)): ReservedBaseId {
  accessSync(folder, constants.W_OK | constants.X_OK);
  const names = readdirSync(folder);
  removeDead(names);
  for (let tries = 0; tries < most; tries += 1) {
    const baseId = draw();
    if (isTaken(baseId, names)) continue;
    const own = holdBaseId(baseId);
    if (own === undefined) throw new Error(`no socket can be made in ${folder}`);
    if (!isTaken(baseId, readdirSync(folder), own.name)) return own;
    own.release();
  }
  throw new Error(`no base id is free in ${folder}`);
}

/** Whether any of these files but the reservation `own` has to do with that base id. */
function isTaken(baseId: number, names: readonly string[], own?: string): boolean {
  return names.some((name) => {
    const memoryId = memory.exec(name)?.[1];
    if (memoryId !== undefined) return Math.floor(Number(memoryId) / factor) === baseId;
    return name !== own && Number(reserved.exec(name)?.[1]) === baseId;
  });
}

/**
 * Reserves a base id that Envoys have already, which an earlier agent has left; undefined where no
 * socket can be made.
 */
export function holdBaseId(
  baseId: number,
): (ReservedBaseId & { readonly name: string }) | undefined {
  const name = `pilot-agent-${baseId}-${randomBytes(8).toString('hex')}`;
  const path = `${folder}/${name}`;
  const server = createServer((socket) => socket.destroy())
    .on('error', () => undefined)
    .unref();
  privately(() => server.listen(`${path}.new`));
  try {
    renameSync(`${path}.new`, path); // who is asked between bind and listen seems to be dead
  } catch {
    server.close();
    return undefined;
  }
  return {
    baseId,
    name,
    release() {
      remove(path);
      server.close();
    },
  };
}

/** Removes the reservations on which nobody listens any more. Answers come later. */
function removeDead(names: readonly string[]): void {
  for (const name of names
    .filter((found) => reserved.test(found) && !found.endsWith('.new'))
    .slice(0, most)) {
    const path = `${folder}/${name}`;
    const socket = connect(path, () => socket.destroy()).unref();
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') remove(path);
    });
  }
}
