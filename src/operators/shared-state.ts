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

/** The states of something, for many who listen. */
export interface SharedState<T> {
  /** The last state at once, if there is one, and then each. */
  readonly state$: Observable<T>;
  /** Each state that comes from now on. */
  readonly later$: Observable<T>;
}

/**
 * Listens to `source$` once, however many listen to its states, and only while somebody does;
 * between two who listen one after the other it is not let go of. Objects tell states apart.
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
    const known = last;
    return state$.pipe(filter((state) => state !== known));
  });
  return { state$, later$ };
}
