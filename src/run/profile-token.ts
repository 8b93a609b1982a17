import { randomBytes } from 'node:crypto';
import { remove, writeWhole } from '../files/whole-file.ts';

/**
 * The token for profiles: random, and new for each process. Writes it into `profile-token` in
 * `folder`, for the owner's eyes only, and removes that with this process. Throws what the system
 * says where it cannot be written.
 */
export function profileToken(folder: string): string {
  const path = `${folder}/profile-token`;
  const token = randomBytes(32).toString('base64url');
  writeWhole(path, `${token}\n`);
  process.once('exit', () => remove(path));
  return token;
}
