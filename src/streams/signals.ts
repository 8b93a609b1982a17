import type { EventEmitter } from 'node:events';
import { defer, fromEvent, map, merge, NEVER, type Observable } from 'rxjs';

type Emitter = Pick<EventEmitter, 'addListener' | 'removeListener' | 'listeners'>;

const ignore = () => undefined;

/**
 * Emits the name of each signal of `names` that the process gets.
 *
 * Hot: listens from subscribe to unsubscribe, and the signals are ignored from then on. Without a listener the default would come back, and the next
 * SIGTERM would kill the agent in the middle of its drain, or while it writes its last lines. Never completes for the same reason.
 */
export function signals(names: readonly NodeJS.Signals[], emitter: Emitter = process): Observable<NodeJS.Signals> {
  return defer(() => {
    for (const name of names) if (!emitter.listeners(name).includes(ignore)) emitter.addListener(name, ignore);
    return merge(NEVER, ...names.map((name) => fromEvent(emitter, name).pipe(map(() => name))));
  });
}
