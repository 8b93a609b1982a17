import { lstatSync, renameSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { catchError, concat, defer, map, NEVER, Observable, of, switchMap, take } from 'rxjs';
import { privately } from './privately.ts';
import { reportServerErrors } from './server-errors.ts';
import { remove } from './whole-file.ts';

/** An event of a socket that the program listens on. */
export type SocketEvent =
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'connected'; readonly socket: Socket }
  /** A connection could not be accepted. The next one may be. */
  | { readonly type: 'not-taken'; readonly reason: string };

/** The longest path of a socket: sockaddr_un without its final zero (unix(7)). In bytes. */
const longest = 107;
/** The socket is first bound under a name that is longer by this suffix. In bytes. */
const suffix = 4;

/**
 * Listens on a Unix socket at `path`, mode 0600, whose folder exists. Emits `listening` or
 * `failed`, then each connection, and `not-taken` if one cannot be accepted. On unsubscribe it
 * closes all connections and removes the socket, if it is still its own. Cold; never completes,
 * never errors.
 *
 * Replaces the socket of a dead process. A socket that answers is in use. Anything but a socket is
 * never removed.
 */
export function ownSocket(path: string): Observable<SocketEvent> {
  return claimSocket(path).pipe(
    switchMap((reason) =>
      reason === undefined
        ? listen(path)
        : concat(of<SocketEvent>({ type: 'failed', reason }), NEVER),
    ),
  );
}

/** Emits why no server can listen at `path`, or undefined if one can, and completes. */
function claimSocket(path: string): Observable<string | undefined> {
  return defer(() => {
    if (Buffer.byteLength(path) > longest - suffix)
      return of(`${path}: the path of a socket has ${longest - suffix} bytes at most`);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return of(undefined);
    if (!stats.isSocket()) return of(`${path} is there already, and is not a socket`);
    return isServed(path).pipe(
      map((served) => (served ? `${path} is served by another process` : undefined)),
    );
  }).pipe(catchError((error: unknown) => of((error as Error).message)));
}

/** Emits whether a process answers on a socket. */
function isServed(path: string): Observable<boolean> {
  return new Observable<boolean>((subscriber) => {
    const socket = connect(path);
    socket.on('connect', () => subscriber.next(true));
    socket.on('error', () => subscriber.next(false));
    return () => socket.destroy();
  }).pipe(take(1));
}

function listen(path: string): Observable<SocketEvent> {
  return new Observable((subscriber) => {
    const sockets = new Set<Socket>();
    let inode: number | undefined;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined); // it is closed then; without a listener it would throw
      subscriber.next({ type: 'connected', socket });
    });
    reportServerErrors(server, {
      failed: (reason) => subscriber.next({ type: 'failed', reason }),
      notTaken: (reason) => subscriber.next({ type: 'not-taken', reason }),
    });

    // It is bound beside its path and then renamed, so it replaces a dead socket in one step.
    const beside = `${path}.new`;
    remove(beside);
    const placeIt = () => {
      if (subscriber.closed) return;
      const placed = place(beside, path);
      if (placed.ok) inode = placed.inode;
      subscriber.next(
        placed.ok ? { type: 'listening' } : { type: 'failed', reason: placed.reason },
      );
    };
    privately(() => server.listen(beside, placeIt));
    return () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (inode !== undefined && inodeOf(path) === inode) remove(path);
    };
  });
}

/** Moves a bound socket to its path, or returns why that fails. */
function place(
  beside: string,
  path: string,
):
  | { readonly ok: true; readonly inode: number | undefined }
  | { readonly ok: false; readonly reason: string } {
  try {
    renameSync(beside, path);
    return { ok: true, inode: inodeOf(path) };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return lstatSync(path).ino;
  } catch {
    return undefined; // it is gone
  }
}
