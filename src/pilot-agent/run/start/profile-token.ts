import { randomBytes } from 'node:crypto';
import { remove, writeWhole } from '../../../shared/files/whole-file.ts';

export interface ProfileToken {
  readonly token: string;
  /** Removes its file. Synchronous; never throws. */
  readonly remove: () => void;
}

/**
 * Makes the token for profiles: random, and new for each agent. Writes it into `profile-token` in
 * `folder`, readable only by the owner, until it is removed. Throws the system's error if it cannot
 * be written.
 */
export function profileToken(folder: string): ProfileToken {
  const path = `${folder}/profile-token`;
  const token = randomBytes(32).toString('base64url');
  writeWhole(path, `${token}\n`);
  return { token, remove: () => remove(path) };
}
