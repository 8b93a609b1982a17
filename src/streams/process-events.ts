import type { EventEmitter } from 'node:events';
import { defer, fromEvent, map, merge, NEVER, type Observable } from 'rxjs';

type Emitter = Pick<EventEmitter, 'addListener' | 'removeListener' | 'listeners'>;

const ignore = () => undefined;

/**
 * Emits the name of each signal of `names` that the process gets.
 *
 * Hot: listens from subscribe to unsubscribe, and the signals are ignored from then on. Never
 * completes.
 */
export function signals(
  names: readonly NodeJS.Signals[],
  emitter: Emitter = process,
): Observable<NodeJS.Signals> {
  return merge(NEVER, ...names.map((name) => heard(name, emitter).pipe(map(() => name))));
}

/**
 * Emits each exception that nobody has caught, and each rejection that nobody has handled, which
 * Node makes one of.
 *
 * Hot: listens from subscribe to unsubscribe, and they are ignored from then on. Never completes.
 */
export function uncaught(emitter: Emitter = process): Observable<unknown> {
  return heard('uncaughtException', emitter);
}

/**
 * Emits what comes with each event of this name. One listener is left behind: without a listener
 * the default would come back, and the next signal or exception would end the agent in the middle
 * of a drain, or while it writes its last lines. Never completes for the same reason.
 */
function heard(name: string, emitter: Emitter): Observable<unknown> {
  return defer(() => {
    if (!emitter.listeners(name).includes(ignore)) emitter.addListener(name, ignore);
    return merge(
      NEVER,
      fromEvent(emitter, name, (first: unknown) => first),
    );
  });
}
