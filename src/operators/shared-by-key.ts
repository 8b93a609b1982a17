import { finalize, type Observable, ReplaySubject, type SchedulerLike, share, timer } from 'rxjs';

/**
 * Returns a function that shares an observable under a key. All subscribers of a key share one
 * subscription, and get its last value at once. The subscription lasts for `lingering` ms after the
 * last subscriber has left. Then the key is forgotten, and the next call makes another observable.
 */
export function sharedByKey<T>(
  lingering: number,
  scheduler: SchedulerLike,
): (key: string, make$: () => Observable<T>) => Observable<T> {
  const kept = new Map<string, Observable<T>>();
  return (key, make$) => {
    const existing$ = kept.get(key);
    if (existing$ !== undefined) return existing$;
    const shared$ = make$().pipe(
      finalize(() => kept.delete(key)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => timer(lingering, scheduler),
      }),
    );
    kept.set(key, shared$);
    return shared$;
  };
}
