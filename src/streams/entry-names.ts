import { watch } from 'node:fs';
import { Observable } from 'rxjs';

/**
 * Emits the name of each entry of a folder that may have changed, as the kernel reports it, without
 * looking at the entry. Emits undefined if any entry may have changed, and so once as soon as the
 * folder is watched.
 *
 * Cold: the watch begins before `subscribe` returns, and ends on unsubscribe. Never completes;
 * errors if the folder cannot be watched. Does not keep the process alive.
 */
export function entryNames(folder: string): Observable<string | undefined> {
  return new Observable((subscriber) => {
    const watcher = watch(folder, { persistent: false }, (_, name) =>
      subscriber.next(name ?? undefined),
    );
    watcher.on('error', (error) => subscriber.error(error));
    subscriber.add(() => watcher.close());
    subscriber.next(undefined);
  });
}
