import { Observable, type SchedulerLike } from 'rxjs';

/**
 * Returns an operator for many observables that share a processor. Their values are emitted as they
 * come while that takes less than `slice` ms in a row. Then other work of the program has its turn,
 * and the values that came meanwhile follow, in the order of their observables, slice by slice. If
 * an observable has a newer value before its turn, only that is emitted.
 */
export function fairSlices(
  slice: number,
  scheduler: SchedulerLike,
): <T>(source$: Observable<T>) => Observable<T> {
  const queue = new Set<() => void>();
  let begun: number | undefined;
  const hasTime = (): boolean => begun === undefined || scheduler.now() - begun < slice;
  const emitQueued = (): void => {
    for (const emit of queue) {
      if (!hasTime()) break;
      queue.delete(emit);
      emit();
    }
  };
  const begin = (): void => {
    begun = scheduler.now();
    scheduler.schedule(() => {
      begun = undefined;
      if (queue.size === 0) return;
      begin();
      emitQueued();
    });
  };
  return <T>(source$: Observable<T>) =>
    new Observable<T>((subscriber) => {
      let newest: { readonly value: T } | undefined;
      let isOver = false;
      const emit = (): void => {
        const pending = newest;
        newest = undefined;
        if (pending !== undefined) subscriber.next(pending.value);
        if (isOver) subscriber.complete();
      };
      subscriber.add(() => queue.delete(emit));
      subscriber.add(
        source$.subscribe({
          next: (value) => {
            newest = { value };
            if (begun === undefined) begin();
            if (queue.size === 0 && hasTime()) emit();
            else queue.add(emit);
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            isOver = true;
            if (newest === undefined) subscriber.complete();
          },
        }),
      );
    });
}
