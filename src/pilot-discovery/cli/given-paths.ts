import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import type { ReadPath } from '../registry/files/read-paths.ts';

/**
 * Returns the files and folders that a command line names, each once. Throws a {@link Fatal} (64)
 * for a path that is not there.
 */
export const givenPaths = (paths: readonly string[]): readonly ReadPath[] =>
  [...new Set(paths.map((path) => resolve(path)))].map(readPathAt);

function readPathAt(path: string): ReadPath {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new Fatal(`${path} is not there: name files and folders`, exitCodes.usage);
  return { path, kind: stats.isDirectory() ? 'folder' : 'file' };
}
