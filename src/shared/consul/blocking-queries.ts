// Why: docs/decisions/029-consul-is-asked-with-a-budget.md
import {
  asyncScheduler,
  defer,
  expand,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { attentiveTimeout } from '../../operators/attentive-timer.ts';
import { jitter } from '../../operators/back-off.ts';

/** A state in Consul, with its index. */
export interface StateAt<T> {
  readonly index: number;
  readonly state: T;
}

export interface Queried<T> {
  /**
   * Asks once, on subscribe, for a state that differs from the state at `index`; for any state if
   * `index` is 0.
   */
  query(index: number): Observable<StateAt<T>>;
}

export interface QueryTimes {
  /** How long Consul delays an answer without news, in ms. */
  readonly wait: number;
  /** How long an answer may take beyond this delay, in ms. */
  readonly timeout: number;
  /** Returns a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random: () => number;
  /** The least time between the beginnings of two queries, in ms; 0 if left out. */
  readonly spacing?: number;
  /** Emits when a query may begin; the query ends before this is unsubscribed. */
  readonly place$?: Observable<unknown>;
  readonly scheduler?: SchedulerLike;
}

/**
 * The budget of queries, in ms: the cost of an answer with a new state and of one with the same
 * state, and the debt that is allowed.
 */
const costs = { new: 1_000, same: 10_000, owed: 10_000 };
/** A larger debt, in ms, can only come from a clock that was set back. */
const largestDebt = costs.owed + 2 * costs.same;
const spread = 0.2;

/**
 * Asks for a state, and then again and again for a state that differs from the last one. Emits the
 * state of each answer, even if it is the same. Cold. Never completes; errors if a query does, or
 * if its answer does not come in time.
 *
 * If the index goes back, Consul has other data than before: the next query starts from 0. An index
 * of 0 in an answer counts as 1, because Consul answers a query from 0 at once.
 *
 * If Consul answers at once again and again, pauses follow: after ten answers with news in a row,
 * one query per 1 s; after two answers without news, one per 10 s. A `spacing` holds for each
 * query. A clock that is set back does not make a pause longer than some 20 s.
 */
export function blockingQueries<T>(queried: Queried<T>, times: QueryTimes): Observable<T> {
  const { wait, timeout, random, spacing = 0, place$ = of(undefined) } = times;
  const { scheduler = asyncScheduler } = times;
  const most = timeout + wait + wait / 16; // Consul spreads its answers by wait / 16

  interface Answered extends StateAt<T> {
    /** The index of the next query. */
    readonly from: number;
    /** When the queries so far are paid for. */
    readonly paid: number;
    /** The earliest time of the next query. */
    readonly next: number;
  }
  function answered(from: number, paid: number): Observable<Answered> {
    const answered$ = defer(() => {
      const askedAt = scheduler.now();
      const begun = Math.max(paid, askedAt);
      return queried.query(from).pipe(
        attentiveTimeout(from === 0 ? timeout : most, scheduler),
        map(({ index, state }) => {
          const now = Math.max(index, 1);
          const answeredAt = scheduler.now();
          const cost = now === from ? Math.min(costs.same, wait) : costs.new;
          return {
            index,
            state,
            from: now < from ? 0 : now,
            paid: Math.min(begun + cost, answeredAt + largestDebt),
            next: Math.min(askedAt, answeredAt) + spacing,
          };
        }),
      );
    });
    return place$.pipe(
      switchMap(() => answered$),
      take(1),
    );
  }
  return answered(0, 0).pipe(
    expand(({ from, paid, next }) => {
      const pause = jitter(Math.max(0, paid - costs.owed - scheduler.now()), spread, random());
      const due = Math.max(Math.round(pause), next - scheduler.now());
      return timer(due, scheduler).pipe(switchMap(() => answered(from, paid)));
    }),
    map(({ state }) => state),
  );
}
