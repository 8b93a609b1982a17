import { Observable, type Subscriber } from 'rxjs';

/**
 * A place that one can have at a time. To subscribe is to wait for it: emits once, when it is free
 * and those who came before have had it; to unsubscribe gives it back. Never completes.
 */
export function onePlace(): Observable<void> {
  const waiting = new Set<Subscriber<void>>();
  return new Observable((subscriber) => {
    waiting.add(subscriber);
    if (waiting.size === 1) subscriber.next();
    return () => {
      const [holder] = waiting;
      waiting.delete(subscriber);
      if (holder !== subscriber) return;
      const [next] = waiting;
      next?.next();
    };
  });
}
