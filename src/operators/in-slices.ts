import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';

/**
 * Does work that a generator has split into steps: runs as many steps as fit in `slice` ms, then
 * lets other work run before it continues. Emits the generator's result, and completes; errors if
 * the generator throws. Cold; on unsubscribe the rest is not done.
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
