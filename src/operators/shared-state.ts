import {
  asyncScheduler,
  defer,
  filter,
  finalize,
  type Observable,
  ReplaySubject,
  type SchedulerLike,
  share,
  tap,
  timer,
} from 'rxjs';

/** The states of something, for many subscribers. */
export interface SharedState<T> {
  /** Emits the last state at once, if there is one, and then each new one. */
  readonly state$: Observable<T>;
  /** Emits each new state. */
  readonly later$: Observable<T>;
}

/**
 * Subscribes to `source$` once for all subscribers, and only while there is one. If one subscriber
 * follows another at once, the subscription to the source is kept. Two states differ if they are
 * different objects.
 */
export function sharedState<T extends object>(
  source$: Observable<T>,
  scheduler: SchedulerLike = asyncScheduler,
): SharedState<T> {
  let last: T | undefined;
  const state$ = source$.pipe(
    tap((state) => (last = state)),
    finalize(() => (last = undefined)),
    share({
      connector: () => new ReplaySubject(1),
      resetOnRefCountZero: () => timer(0, scheduler),
    }),
  );
  const later$ = defer(() => {
    const earlier = last;
    return state$.pipe(filter((state) => state !== earlier));
  });
  return { state$, later$ };
}
