// Why: docs/decisions/002-base-ids-are-random.md
import { randomBytes, randomInt } from 'node:crypto';
import { accessSync, constants, readdirSync, renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { privately } from '../shared/files/privately.ts';
import { remove } from '../shared/files/whole-file.ts';

/** Envoy multiplies `--base-id` by this, and uses the numbers between for its epochs. */
const factor = 10;
/** Above 2³¹ Envoy's product wraps (seen with 1.36.2: a socket `…_18446744072414584320`). */
const highest = 200_000_000;

/** The folder in which Envoys share memory. Agents that share it must draw different base ids. */
const folder = '/dev/shm';
/** The socket of a reservation: the base id, and a random part so that no name is used twice. */
const reserved = /^pilot-agent-(\d+)-[0-9a-f]{16}(?:\.new)?$/;
const memory = /^envoy_shared_memory_(\d+)$/;
/** The most reservations to look at, and the most ids to draw: anybody may fill that folder. */
const most = 100;

/** Returns the file that Envoy leaves in `/dev/shm` for a base id, however it ends. */
export function sharedMemoryOf(baseId: number): string {
  return `/dev/shm/envoy_shared_memory_${baseId * factor}`;
}

/** A base id that no other agent draws until `release`, or the end of this process. */
export interface ReservedBaseId {
  readonly baseId: number;
  /** A second call does nothing. */
  release(): void;
}

/**
 * Draws a base id that nobody uses, and reserves it. Throws the system's error if there is no
 * writable `/dev/shm`, without which no Envoy starts. Synchronous.
 *
 * A reservation is a socket on which this process listens, under a name that is never used again.
 * The agent makes its own socket first, and then looks at all others. So if two agents draw the
 * same id, at least one of them sees the other and draws again, even if they share nothing else.
 * The socket of a dead agent does not answer: the agent that finds it removes it.
 */
export function reserveBaseId(draw = () => randomInt(1, highest)): ReservedBaseId {
  accessSync(folder, constants.W_OK | constants.X_OK);
  removeDead(readdirSync(folder));
  for (let tries = 0; tries < most; tries += 1) {
    const baseId = draw();
    const reservation = holdBaseId(baseId);
    if (reservation === undefined) throw new Error(`no socket can be made in ${folder}`);
    if (!isTaken(baseId, readdirSync(folder), reservation.name)) return reservation;
    reservation.release();
  }
  throw new Error(`no base id is free in ${folder}`);
}

/** Whether any of these files belongs to that base id, except the reservation `ownName`. */
function isTaken(baseId: number, names: readonly string[], ownName: string): boolean {
  return names.some((name) => {
    const memoryId = memory.exec(name)?.[1];
    if (memoryId !== undefined) return Math.floor(Number(memoryId) / factor) === baseId;
    return name !== ownName && Number(reserved.exec(name)?.[1]) === baseId;
  });
}

/** Reserves a base id of Envoys that an earlier agent left; undefined if no socket can be made. */
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
    renameSync(`${path}.new`, path); // between bind and listen it would seem dead
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

/** Removes the reservations on which no process listens. The answers come after this returns. */
function removeDead(names: readonly string[]): void {
  for (const name of names
    .filter((entry) => reserved.test(entry) && !entry.endsWith('.new'))
    .slice(0, most)) {
    const path = `${folder}/${name}`;
    const socket = connect(path, () => socket.destroy()).unref();
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') remove(path);
    });
  }
}
