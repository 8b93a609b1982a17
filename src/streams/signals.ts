import type { EventEmitter } from 'node:events';
import { fromEvent, map, merge, NEVER, type Observable } from 'rxjs';

type Emitter = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/**
 * Emits the name of each signal of `names` that the process gets.
 *
 * Hot: listens from subscribe to unsubscribe. Never completes: without a listener the default comes back, and the next SIGTERM would kill the
 * agent in the middle of its drain.
 */
export function signals(names: readonly NodeJS.Signals[], emitter: Emitter = process): Observable<NodeJS.Signals> {
  return merge(NEVER, ...names.map((name) => fromEvent(emitter, name).pipe(map(() => name))));
}
