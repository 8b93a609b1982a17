// Why: docs/decisions/068-files-are-written-as-a-whole.md
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Flags for a new file: an existing file or link is neither followed nor kept. */
const ownFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** The end of the names of unfinished files. */
const unfinished = /\.[0-9a-f]{16}\.new$/;

/**
 * Writes a file as a whole, readable only for its owner: a concurrent reader sees the old content,
 * or all of `content`. If it cannot be written, throws the system's error, and leaves the old file.
 * Synchronous. It is not flushed to the disk: after a power cut the agent starts again, and writes
 * everything again.
 *
 * It is written under a name that nobody can predict, because others may write into the folder too:
 * their links are not followed, and their files are never written into.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  writeBeside(path, content, (temporaryPath) => renameSync(temporaryPath, path));
}

/**
 * Writes a file as {@link writeWhole} does, if nothing is at its path. If two processes do this at
 * once, one of them writes the file, and the other one gets `exists`. The file is flushed to the
 * disk before it has its name. Throws the system's error if it cannot be written. Synchronous.
 */
export function writeOnce(path: string, content: Uint8Array): 'written' | 'exists' {
  try {
    writeBeside(path, content, (temporaryPath, fd) => {
      fsyncSync(fd);
      linkSync(temporaryPath, path);
      remove(temporaryPath);
    });
    flushFolder(dirname(path));
    return 'written';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'exists';
    throw error;
  }
}

function writeBeside(
  path: string,
  content: string | Uint8Array,
  place: (temporaryPath: string, fd: number) => void,
): void {
  const temporaryPath = `${path}.${randomBytes(8).toString('hex')}.new`;
  const fd = openSync(temporaryPath, ownFile, 0o600);
  try {
    writeFileSync(fd, content);
    place(temporaryPath, fd);
  } catch (error) {
    remove(temporaryPath);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Flushes the names in a folder. */
function flushFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes the unfinished files of {@link writeWhole} that this user left in a folder. The caller
 * ensures that no other process writes there. Synchronous; never throws.
 */
export function removeUnfinished(folder: string): void {
  try {
    const names = readdirSync(folder).filter((name) => unfinished.test(name));
    for (const path of names.map((name) => join(folder, name))) {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() === true && stats.uid === process.geteuid?.()) remove(path);
    }
  } catch {
    // If the folder cannot be listed, its writers report that.
  }
}

/** Removes a file, if it exists and may be removed. Synchronous; never throws. */
export function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It did not exist.
  }
}

/**
 * The system's errors for a temporary shortage: of file descriptors of the process or the machine,
 * or of memory.
 */
const shortages = ['EMFILE', 'ENFILE', 'ENOMEM'];

/**
 * Whether a file could not be read because of a temporary shortage. Then its state is unknown: it
 * is neither absent nor unreadable.
 */
export function isShortage(error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string };
  return shortages.includes(code);
}
