import { randomBytes } from 'node:crypto';
import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { Observable } from 'rxjs';
import { remove } from '../../../shared/files/whole-file.ts';

/**
 * Keeps a link at `path` to a socket. Creates it on subscribe, in the place of another link or
 * socket. Removes it on unsubscribe, unless it leads elsewhere by then. Cold; never emits, never
 * completes; errors if the link cannot be created.
 */
export function linkedSocket(path: string, socket: string): Observable<never> {
  return new Observable(() => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isSocket() && !stats.isSymbolicLink())
      throw new Error(`${path} is there already, and is not a socket`);
    const temporary = `${path}.${randomBytes(8).toString('hex')}`;
    symlinkSync(socket, temporary);
    renameSync(temporary, path);
    return () => {
      if (leadsTo(path) === socket) remove(path);
    };
  });
}

function leadsTo(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? readlinkSync(path)
    : undefined;
}
