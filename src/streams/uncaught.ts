import type { EventEmitter } from 'node:events';
import { defer, fromEvent, merge, NEVER, type Observable } from 'rxjs';

type Emitter = Pick<EventEmitter, 'addListener' | 'listeners' | 'removeListener'>;

const event = 'uncaughtException';
const ignore = () => undefined;

/**
 * Emits each exception that nobody has caught, and each rejection that nobody has handled, which Node makes one of.
 *
 * Hot: listens from subscribe to unsubscribe, and they are ignored from then on: Node would end the process by the next one, in the middle of a drain or of the last
 * lines. Never completes for the same reason.
 */
export function uncaught(emitter: Emitter = process): Observable<unknown> {
  return defer(() => {
    if (!emitter.listeners(event).includes(ignore)) emitter.addListener(event, ignore);
    return merge(
      NEVER,
      fromEvent(emitter, event, (error: unknown) => error),
    );
  });
}
