// Why: docs/decisions/067-outside-files-have-a-limit.md
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isShortage } from './whole-file.ts';

/** The result of reading a file that does not belong to the agent. */
export type OutsideFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | ({ readonly kind: 'absent' } & Trouble)
  | ({ readonly kind: 'unreadable' } & Trouble);

interface Trouble {
  readonly reason: string;
  /** The machine is short of a resource: the file may be readable a moment later. */
  readonly isShort: boolean;
}

type Flaw = Exclude<OutsideFile, { readonly kind: 'read' }>;

/** Returns why a file was not read, for a sentence that names the file. Pure. */
export function unreadReason(flaw: Flaw): string {
  return flaw.kind === 'absent' ? 'it is not there' : flaw.reason;
}

/** The largest sizes of files that others write, by their content. In bytes. */
export const largest = {
  /** A mesh file, a template, an override: texts that one parser reads at once. */
  text: 256 << 10,
  /** Kubernetes allows 256 KiB of annotations, and quotes at most double that. */
  downward: 512 << 10,
  /** Certificates, roots, a key. Some 500 roots fit. */
  pem: 1 << 20,
  token: 64 << 10,
  /** A configuration that Envoy reads itself. */
  envoy: 64 << 20,
} as const;

/** O_NONBLOCK: without it, opening a FIFO would wait until a program writes to it. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const piece = 64 << 10;

/**
 * Reads a file that others may have put there, up to `most` bytes: a regular file, or a link to
 * one, as Kubernetes mounts them. Anything else at the path is neither waited for nor read.
 * Synchronous, so only for small files; never throws.
 */
export function readOutsideSync(path: string, most: number): OutsideFile {
  let fd: number | undefined;
  try {
    fd = openSync(path, flags);
    const stats = fstatSync(fd);
    const flaw = flawOf(stats, most);
    if (flaw !== undefined) return flaw;
    const read: Buffer[] = [];
    for (let length = 0; ;) {
      const buffer = Buffer.allocUnsafe(room(stats, length, most));
      const count = readSync(fd, buffer);
      if (count === 0) return { kind: 'read', bytes: Buffer.concat(read) };
      length += count;
      if (length > most) return tooLarge(stats.size, most);
      read.push(buffer.subarray(0, count));
    }
  } catch (error) {
    return failure(error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Reads such a file without blocking the event loop: `take` gets each piece as it arrives, while
 * `goesOn` returns true. Resolves to the problem of the file, undefined if there is none; never
 * rejects.
 */
export async function eachPiece(
  path: string,
  most: number,
  take: (piece: Buffer) => void,
  goesOn: () => boolean = () => true,
): Promise<Flaw | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, flags);
    const stats = await handle.stat();
    const flaw = flawOf(stats, most);
    if (flaw !== undefined) return flaw;
    for (let length = 0; goesOn();) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(room(stats, length, piece)),
      );
      if (bytesRead === 0) break;
      length += bytesRead;
      if (length > most) return tooLarge(stats.size, most);
      take(buffer.subarray(0, bytesRead));
    }
    return undefined;
  } catch (error) {
    return failure(error);
  } finally {
    await handle?.close().catch(() => undefined);
  }
}

/** Reads the whole file in this way. Never rejects. */
export async function readOutside(path: string, most: number): Promise<OutsideFile> {
  const read: Buffer[] = [];
  const flaw = await eachPiece(path, most, (chunk) => read.push(chunk));
  return flaw ?? { kind: 'read', bytes: Buffer.concat(read) };
}

/**
 * Returns why an existing file should not be read: it is not a regular file, or too large.
 * Synchronous.
 */
export function outsideFlaw(path: string, most: number): string | undefined {
  try {
    return flawOf(statSync(path), most)?.reason;
  } catch {
    return undefined; // the reader of the file reports the failure
  }
}

/** Reads a whole file that the caller needs: rejects with its problem. */
export async function bytesOutside(path: string, most: number): Promise<Buffer> {
  const file = await readOutside(path, most);
  if (file.kind === 'read') return file.bytes;
  throw new Error(file.reason);
}

/**
 * Returns the size of the next buffer. Files of /proc have no size: they are read until they end,
 * or are too large.
 */
function room({ size }: Stats, length: number, most: number): number {
  return Math.min(Math.max(size - length + 1, 1 << 10), most + 1);
}

function flawOf(stats: Stats, most: number): Flaw | undefined {
  if (!stats.isFile()) return unreadable(`it is ${kindOf(stats)}, and not a regular file`);
  return stats.size > most ? tooLarge(stats.size, most) : undefined;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function tooLarge(size: number, most: number): Flaw {
  const problem = size > most ? `it has ${size} bytes` : 'it does not end';
  return unreadable(`${problem}, and ${most} are read at most`);
}

function unreadable(reason: string): Flaw {
  return { kind: 'unreadable', reason, isShort: false };
}

/** Removes the path from a message, because the caller names the file too. */
function withoutPath(message: string): string {
  return message.replace(/, \w+ '.*'$/s, '');
}

function failure(error: unknown): Flaw {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENXIO') return unreadable('it is a socket or a device, and not a regular file');
  return {
    kind: code === 'ENOENT' ? 'absent' : 'unreadable',
    reason: withoutPath(message),
    isShort: isShortage(error),
  };
}
