import { Observable, type Subscriber } from 'rxjs';

/**
 * Returns a place that only one subscriber has at a time. Subscribing waits for it: emits once,
 * when the place is free and all earlier subscribers have had it. Unsubscribing frees it. Never
 * completes.
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
