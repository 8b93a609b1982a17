import { Observable, type Subscriber } from 'rxjs';

/**
 * Returns places, each of which only one subscriber has at a time. Subscribing waits for one: emits
 * once, when a place is free and all earlier subscribers have had one. Unsubscribing frees it.
 * Never completes.
 */
export function places(most: number): Observable<void> {
  const holders = new Set<Subscriber<void>>();
  const waiting = new Set<Subscriber<void>>();
  const give = (subscriber: Subscriber<void>) => {
    holders.add(subscriber);
    subscriber.next();
  };
  return new Observable((subscriber) => {
    if (holders.size < most) give(subscriber);
    else waiting.add(subscriber);
    return () => {
      waiting.delete(subscriber);
      if (!holders.delete(subscriber)) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      give(next);
    };
  });
}
