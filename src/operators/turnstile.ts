import { type MonoTypeOperatorFunction, Observable } from 'rxjs';

/** How many observables may run, and how many may wait for one of them to end. */
export interface TurnstileBounds {
  readonly running: number;
  readonly waiting: number;
}

/**
 * Returns an operator for many observables: those that run at once are bounded, and the others wait
 * in order. If too many wait, `full$` replaces an observable at once.
 */
export function turnstile<T>(
  { running, waiting }: TurnstileBounds,
  full$: Observable<T>,
): MonoTypeOperatorFunction<T> {
  const queue = new Set<() => void>();
  let [count, isDraining] = [0, false];
  // A loop, because an observable may complete at once, and the next one too.
  const drain = (): void => {
    if (isDraining) return;
    isDraining = true;
    for (const start of queue) {
      if (count >= running) break;
      queue.delete(start);
      start();
    }
    isDraining = false;
  };
  const end = (): void => {
    count -= 1;
    drain();
  };
  return (source$) =>
    new Observable((subscriber) => {
      const start = (): void => {
        count += 1;
        subscriber.add(end); // before the source, which may complete at once
        source$.subscribe(subscriber);
      };
      if (count < running) start();
      else if (queue.size >= waiting) full$.subscribe(subscriber);
      else {
        queue.add(start);
        subscriber.add(() => queue.delete(start));
      }
    });
}
