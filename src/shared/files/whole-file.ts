// Why: docs/decisions/068-files-are-written-as-a-whole.md
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** A file of its own: what is there already is neither followed nor kept. */
const ownFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** How the names of files end that are not whole yet. */
const unfinished = /\.[0-9a-f]{16}\.new$/;

/**
 * Writes a file as a whole, for its owner's eyes only: who reads it meanwhile sees what was there
 * before, or all of `content`. Throws what the system says where it cannot be written, and leaves
 * what was there. Synchronous. It is not flushed to the disk: after a power cut the agent begins
 * anew, and writes all of it again.
 *
 * It is written under a name that nobody can know before, for others may write into the folder too:
 * a link that they put there is not followed, and a file of theirs is never written into.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const fresh = `${path}.${randomBytes(8).toString('hex')}.new`;
  const fd = openSync(fresh, ownFile, 0o600);
  try {
    writeFileSync(fd, content);
    renameSync(fresh, path);
  } catch (error) {
    remove(fresh);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes what {@link writeWhole} has left unfinished in a folder that nobody else writes whole
 * files into now: this user's own files, of no other name. Synchronous; never throws.
 */
export function removeUnfinished(folder: string): void {
  try {
    const left = readdirSync(folder).filter((name) => unfinished.test(name));
    for (const path of left.map((name) => join(folder, name))) {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() === true && stats.uid === process.geteuid?.()) remove(path);
    }
  } catch {
    // What cannot be listed is told by who writes into it.
  }
}

/** Removes a file, if it is there and may be removed. Synchronous; never throws. */
export function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there.
  }
}

/**
 * What the system says where it is short of something for now: file descriptors of the process, or
 * of the machine, or memory.
 */
const shortages = ['EMFILE', 'ENFILE', 'ENOMEM'];

/**
 * Whether a file could not be read for want of something that may be there a moment later. Nothing
 * is known of the file then: it is neither absent nor unreadable.
 */
export function isShortage(error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string };
  return shortages.includes(code);
}
