import {
  defer,
  map,
  mergeMap,
  Observable,
  observeOn,
  type OperatorFunction,
  queueScheduler,
  share,
  Subject,
} from 'rxjs';

/** The result of a reducer: the next state, and the effects to carry out. */
export type Step<State, Effect> = readonly [State, readonly Effect[]];

/** One event, and the states before and after it. */
export interface Transition<State, Event> {
  readonly event: Event;
  readonly before: State;
  readonly state: State;
}

/**
 * Emits each transition that `reduce` makes of the events of the source and of the effects.
 *
 * Events are folded first in, first out: if an effect answers synchronously, its event is queued
 * behind the existing ones. So every reader sees the states, and `interpret` the effects, in the
 * order of the events. A transition is emitted before its effects run. Never completes; errors only
 * if the source, `reduce` or `interpret` does. Unsubscribing ends the effects.
 */
export function reduceWithEffects<State, Event, Effect>(
  initial: State,
  reduce: (state: State, event: Event) => Step<State, Effect>,
  interpret: (effects$: Observable<Effect>, events$: Observable<Event>) => Observable<Event>,
): OperatorFunction<Event, Transition<State, Event>> {
  return (source) =>
    new Observable((subscriber) => {
      const inbox$ = new Subject<Event>();
      const events$ = inbox$.pipe(observeOn(queueScheduler), share());
      const steps$ = defer(() => {
        let before = initial;
        return events$.pipe(
          map((event) => {
            const [state, effects] = reduce(before, event);
            const transition: Transition<State, Event> = { event, before, state };
            before = state;
            return { transition, effects };
          }),
        );
      }).pipe(share());
      const feed = {
        next: (event: Event) => inbox$.next(event),
        error: (error: unknown) => subscriber.error(error),
      };
      subscriber.add(steps$.pipe(map(({ transition }) => transition)).subscribe(subscriber));
      subscriber.add(
        interpret(steps$.pipe(mergeMap(({ effects }) => effects)), events$).subscribe(feed),
      );
      subscriber.add(source.subscribe(feed)); // last, so that nobody misses the first event
    });
}
