import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, with mode 0700 if it is new, and throws if it is not writable. It does not use
 * `recursive`, which never returns below /proc (Node 20).
 */
export function prepareFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) {
      prepareFolder(dirname(path));
      mkdirSync(path, { mode: 0o700 });
    } else if (code !== 'EEXIST') throw error;
  }
  accessSync(`${path}/`, constants.W_OK | constants.X_OK);
}
