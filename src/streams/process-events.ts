import type { EventEmitter } from 'node:events';
import { defer, fromEvent, map, merge, NEVER, type Observable } from 'rxjs';

type Emitter = Pick<EventEmitter, 'addListener' | 'removeListener' | 'listeners'>;

const ignore = () => undefined;

/**
 * Emits the name of each signal of `names` that the process gets.
 *
 * Hot: listens from subscribe to unsubscribe. After that the signals are ignored. Never completes.
 */
export function signals(
  names: readonly NodeJS.Signals[],
  emitter: Emitter = process,
): Observable<NodeJS.Signals> {
  return merge(NEVER, ...names.map((name) => heard(name, emitter).pipe(map(() => name))));
}

/**
 * Emits each uncaught exception, and each unhandled rejection, which Node turns into one.
 *
 * Hot: listens from subscribe to unsubscribe. After that they are ignored. Never completes.
 */
export function uncaught(emitter: Emitter = process): Observable<unknown> {
  return heard('uncaughtException', emitter);
}

/**
 * Emits the first argument of each event of this name. One listener stays after unsubscribe:
 * without a listener Node's default would return, and the next signal or exception would end the
 * agent in the middle of a drain, or while it writes its last lines. Never completes for the same
 * reason.
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
