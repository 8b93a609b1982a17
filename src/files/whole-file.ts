import { renameSync, unlinkSync, writeFileSync } from 'node:fs';

/**
 * Writes a file as a whole, for its owner's eyes only: who reads it meanwhile sees what was there
 * before, or all of `content`. Throws what the system says where it cannot be written, and leaves
 * what was there. Synchronous. It is not flushed to the disk: after a power cut the agent begins
 * anew, and writes all of it again.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const fresh = `${path}.new`;
  try {
    writeFileSync(fresh, content, { mode: 0o600 });
    renameSync(fresh, path);
  } catch (error) {
    remove(fresh);
    throw error;
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
