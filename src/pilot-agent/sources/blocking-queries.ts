// Why: docs/decisions/029-consul-is-asked-with-a-budget.md
import {
  asyncScheduler,
  defer,
  expand,
  map,
  type Observable,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { attentiveTimeout } from '../../operators/attentive-timer.ts';
import { jitter } from '../../operators/back-off.ts';

/** What Consul says of something: its state, and the index that this state has. */
export interface StateAt<T> {
  readonly index: number;
  readonly state: T;
}

export interface Queried<T> {
  /** Asks once, on subscribe, for a state other than that of the index; for any if that is 0. */
  query(index: number): Observable<StateAt<T>>;
}

export interface QueryTimes {
  /** How long Consul holds back an answer that has nothing new, in ms. */
  readonly wait: number;
  /** How long it may take for an answer besides, in ms. */
  readonly timeout: number;
  /** Makes a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random: () => number;
  readonly scheduler?: SchedulerLike;
}

/** What a question costs in time, by what its answer was, and how much may be owed. In ms. */
const costs = { new: 1_000, same: 10_000, owed: 10_000 };
const spread = 0.2;

/**
 * Asks for the state of something, and then each time for another one than it knows. Emits the
 * state of each answer, be it the same or not. Cold. Never completes; errors with a query, or if
 * its answer does not come in time.
 *
 * An index that has gone back is of another past: the next question begins anew. An index of 0
 * would make each question one that is answered at once: it counts as 1.
 *
 * A Consul that answers at once again and again is not asked without a pause: ten questions on end
 * are answered with something new, or two with nothing, and from then on one in 1 s, or in 10 s.
 */
export function blockingQueries<T>(queried: Queried<T>, times: QueryTimes): Observable<T> {
  const { wait, timeout, random, scheduler = asyncScheduler } = times;
  const most = timeout + wait + wait / 16; // by which Consul spreads its answers

  interface Answered extends StateAt<T> {
    /** For the next question. */
    readonly from: number;
    /** When the questions so far are paid for. */
    readonly paid: number;
  }
  function answered(from: number, paid: number): Observable<Answered> {
    return defer(() => {
      const begun = Math.max(paid, scheduler.now());
      return queried.query(from).pipe(
        take(1),
        attentiveTimeout(from === 0 ? timeout : most, scheduler),
        map(({ index, state }) => {
          const now = Math.max(index, 1);
          return {
            index,
            state,
            from: now < from ? 0 : now,
            paid: begun + (now === from ? Math.min(costs.same, wait) : costs.new),
          };
        }),
      );
    });
  }
  return answered(0, 0).pipe(
    expand(({ from, paid }) => {
      const pause = Math.round(
        jitter(Math.max(0, paid - costs.owed - scheduler.now()), spread, random()),
      );
      return timer(pause, scheduler).pipe(switchMap(() => answered(from, paid)));
    }),
    map(({ state }) => state),
  );
}
