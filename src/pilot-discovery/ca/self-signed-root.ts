import { statSync } from 'node:fs';
import { privateKeyBlock } from '../../shared/certificates/key-flaw.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { writeOnce } from '../../shared/files/whole-file.ts';
import { newRoot } from './new-root.ts';
import { type AuthorityResult, signingAuthority } from './signing-authority.ts';

/** The result of a look at the file of a self-signed root. */
export type SelfSignedRootReading = AuthorityResult | { readonly ok: 'absent' };

/**
 * Reads the root in a file: its certificate and its key, PEM. Refuses a file that every user of the
 * machine can read. Never rejects.
 *
 * @param now ms since 1970
 */
export async function readSelfSignedRoot(
  path: string,
  now: number,
): Promise<SelfSignedRootReading> {
  const file = await readOutside(path, largest.pem);
  if (file.kind === 'absent') return { ok: 'absent' };
  if (file.kind === 'unreadable') return { ok: false, reason: file.reason };
  try {
    if (isOpen(path)) return { ok: false, reason: 'every user can read it: run chmod 600' };
    const certificate = certificateIn(file.bytes);
    const key = privateKeyBlock(file.bytes) ?? Buffer.alloc(0);
    return signingAuthority({ certificate, key, chain: '', roots: certificate }, now);
  } finally {
    file.bytes.fill(0);
  }
}

const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/** Returns the first certificate. The key beside it does not become a string. */
function certificateIn(bytes: Buffer): string {
  const start = Math.max(bytes.indexOf(begin), 0);
  const stop = bytes.indexOf(end, start);
  return stop < 0 ? '' : `${bytes.toString('latin1', start, stop + end.length)}\n`;
}

/** Whether users who are neither the owner nor in the group can read a file. */
function isOpen(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & 0o007) !== 0;
}

/**
 * Makes a root, and writes it to a file that does not exist. If another process has written the
 * file at the same moment, that root is used, and this one is dropped. Rejects with the error of
 * the system.
 *
 * @param lifetime in ms
 * @param now ms since 1970
 */
export async function makeSelfSignedRoot(
  path: string,
  lifetime: number,
  now: number,
): Promise<void> {
  const { certificate, key } = await newRoot(lifetime, now);
  const both = Buffer.concat([Buffer.from(certificate), key]);
  try {
    writeOnce(path, both);
  } finally {
    key.fill(0);
    both.fill(0);
  }
}
