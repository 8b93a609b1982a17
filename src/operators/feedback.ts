// Why: docs/decisions/066-one-operator-closes-the-circle.md
import { BehaviorSubject, map, Observable } from 'rxjs';

/** A value, and the folded state on either side of it. */
export interface Fold<State, Value> {
  readonly value: Value;
  readonly before: State;
  readonly state: State;
}

/**
 * Emits each value of what `make$` returns, with the state that all values so far fold to, and
 * gives that state back to `make$`: this closes a cycle in which what is made depends on what came
 * of it.
 *
 * `state$` emits the state at once and then after each value, before the value itself is emitted.
 * Completes, errors and ends with what `make$` returns. Cold: a subscription has a state of its
 * own.
 */
export function feedback<State, Value>(
  first: State,
  fold: (state: State, value: Value) => State,
  make$: (state$: Observable<State>) => Observable<Value>,
): Observable<Fold<State, Value>> {
  return new Observable((subscriber) => {
    const state$ = new BehaviorSubject(first);
    return make$(state$.asObservable())
      .pipe(
        map((value): Fold<State, Value> => {
          const before = state$.value;
          const state = fold(before, value);
          state$.next(state);
          return { value, before, state };
        }),
      )
      .subscribe(subscriber);
  });
}
