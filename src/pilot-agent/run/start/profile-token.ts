import { randomBytes } from 'node:crypto';
import { remove, writeWhole } from '../../../shared/files/whole-file.ts';

export interface ProfileToken {
  readonly token: string;
  /** Removes its file. Synchronous; never throws. */
  readonly remove: () => void;
}

/**
 * The token for profiles: random, and new for each agent. Writes it into `profile-token` in
 * `folder`, for the owner's eyes only, until it is removed. Throws what the system says where it
 * cannot be written.
 */
export function profileToken(folder: string): ProfileToken {
  const path = `${folder}/profile-token`;
  const token = randomBytes(32).toString('base64url');
  writeWhole(path, `${token}\n`);
  return { token, remove: () => remove(path) };
}
