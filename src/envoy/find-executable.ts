import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** The first file in the folders of `path` (`PATH`'s form) of that name that this user may execute. Synchronous; never throws. */
export function findExecutable(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? '').split(':').filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
