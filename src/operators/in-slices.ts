import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';

/**
 * Does work that a generator has cut into steps, as many in a row as fit in `slice` ms, and lets
 * others have their turn before it goes on. Emits what the generator returns, and completes; errors
 * with what it throws. Cold; on unsubscribe the rest is left undone.
 */
export function inSlices<R>(
  work: () => Generator<unknown, R, undefined>,
  slice: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<R> {
  return new Observable((subscriber) => {
    const steps = work();
    const go = (): boolean => {
      const start = scheduler.now();
      do {
        const step = steps.next();
        if (step.done !== true) continue;
        subscriber.next(step.value);
        subscriber.complete();
        return true;
      } while (scheduler.now() - start < slice);
      return false;
    };
    return scheduler.schedule(function () {
      try {
        if (!go() && !subscriber.closed) this.schedule();
      } catch (error) {
        subscriber.error(error);
      }
    });
  });
}
