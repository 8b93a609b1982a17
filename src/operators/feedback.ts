// Why: docs/decisions/066-one-operator-closes-the-circle.md
import { BehaviorSubject, map, Observable } from 'rxjs';

/** A value, and the folded states before and after it. */
export interface Fold<State, Value> {
  readonly value: Value;
  readonly before: State;
  readonly state: State;
}

/**
 * Emits each value of the stream that `make$` returns, with the state that all values so far fold
 * to. `make$` gets the states too: this closes a cycle in which the values depend on their own
 * results.
 *
 * `state$` emits the state at once and then after each value, before the value itself is emitted.
 * Completes and errors with the stream that `make$` returns, and ends it on unsubscribe. Cold: each
 * subscription has its own state.
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
