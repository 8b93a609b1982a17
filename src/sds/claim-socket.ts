import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { Observable } from 'rxjs';

/** What sockaddr_un holds, less its final zero (unix(7)). In bytes. */
const longest = 107;
/** It is bound under a longer name first. In bytes. */
const suffix = 4;

/**
 * Emits why no server can listen at `path`, or undefined if one can, and completes. Cold; never errors.
 *
 * A socket that somebody answers on is in use; one that is left over from a dead process is not. What is no socket is never taken away.
 */
export function claimSocket(path: string): Observable<string | undefined> {
  return new Observable((subscriber) => {
    const emit = (reason: string | undefined) => {
      subscriber.next(reason);
      subscriber.complete();
    };
    if (Buffer.byteLength(path) > longest - suffix) {
      emit(`${path}: the path of a socket has ${longest - suffix} bytes at most`);
      return;
    }
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) {
      emit(undefined);
      return;
    }
    if (!stats.isSocket()) {
      emit(`${path} is there already, and is no socket`);
      return;
    }
    const socket = connect(path);
    socket.on('connect', () => emit(`${path} is served by another process`));
    socket.on('error', () => emit(undefined));
    return () => socket.destroy();
  });
}
