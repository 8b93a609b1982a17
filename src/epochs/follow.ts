// Why: docs/decisions/005-the-first-look-at-an-epoch.md
import {
  asyncScheduler,
  concat,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  share,
  scan,
  skipUntil,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs';
import { attentiveTimer } from '../operators/attentive-timer.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy, Health } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Asks for the health of an epoch, one question at a time: every 20 ms in its first second, then
 * every 500 ms, and every 5 s while it is LIVE. Emits only what is new:
 *
 * - `epoch-live` when it is first seen LIVE,
 * - `epoch-late` when it answers after 20 s and is not LIVE,
 * - `epoch-unresponsive` when questions of 2 s had no answer,
 * - `epoch-answered` when it answers again,
 * - `epoch-hung` 30 s after its last answer; 10 s if it is a child that was not seen LIVE.
 *
 * Time in which the agent itself could not listen does not count as Envoy's silence.
 *
 * Never completes, and errors only if the proxy does: the caller unsubscribes when the epoch ends.
 */
export function follow(
  { epoch, isChild }: Pick<Extract<Effect, { type: 'follow' }>, 'epoch' | 'isChild'>,
  proxy: Pick<Proxy, 'health'>,
  timing: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  const { quickPoll, quick, poll, livePoll, liveTimeout, hung, childHung } = timing;
  function ask(occasion$: Observable<unknown>): Observable<Health> {
    return occasion$.pipe(exhaustMap(() => proxy.health(epoch)));
  }
  const comingUp$ = concat(
    timer(0, quickPoll, scheduler).pipe(take(quick / quickPoll)),
    timer(quickPoll, poll, scheduler),
  );
  // No timer runs between two questions to a LIVE Envoy: each timer would wake an idle agent.
  const whileLive$ = ask(timer(livePoll, livePoll, scheduler)).pipe(
    takeWhile((answer) => answer === 'live', true),
  );
  const untilLive$ = ask(timer(poll, poll, scheduler)).pipe(
    takeWhile((answer) => answer !== 'live', true),
  );
  const polls$ = concat(
    ask(comingUp$).pipe(takeWhile((answer) => answer !== 'live', true)),
    concat(whileLive$, untilLive$).pipe(repeat()),
  ).pipe(share());
  const live$ = polls$.pipe(
    filter((answer) => answer === 'live'),
    take(1),
    map((): AgentEvent => ({ type: 'epoch-live', epoch })),
  );
  const late$ = polls$.pipe(
    skipUntil(attentiveTimer(liveTimeout, scheduler)),
    filter((answer) => answer === 'up'),
    take(1),
    map((): AgentEvent => ({ type: 'epoch-late', epoch })),
    takeUntil(live$),
  );
  const silence$ = silence(polls$, isChild ? childHung : hung, timing, scheduler).pipe(
    map((type): AgentEvent => ({ type, epoch })),
  );
  return merge(live$, late$, silence$);
}

/**
 * Emits when an Envoy falls silent, answers again, and hangs. `first` is the time in ms after which
 * it hangs if it has not been LIVE.
 */
function silence(
  polls$: Observable<Health>,
  first: number,
  { livePoll, unresponsive, hung }: Timing,
  scheduler: SchedulerLike,
): Observable<'epoch-answered' | 'epoch-unresponsive' | 'epoch-hung'> {
  return polls$.pipe(
    filter((answer) => answer !== 'unresponsive'),
    scan(
      (last, answer) =>
        answer === 'live' ? { limit: hung, unasked: livePoll } : { ...last, unasked: 0 },
      {
        limit: first,
        unasked: 0,
      },
    ),
    map((last) => ({ ...last, answers: true })),
    startWith({ limit: first, unasked: 0, answers: false }),
    switchMap(({ limit, unasked, answers }) =>
      concat(
        answers ? of('epoch-answered' as const) : EMPTY,
        timer(unasked, scheduler).pipe(ignoreElements()),
        attentiveTimer(unresponsive, scheduler).pipe(map(() => 'epoch-unresponsive' as const)),
        attentiveTimer(limit - unasked - unresponsive, scheduler).pipe(
          map(() => 'epoch-hung' as const),
        ),
      ),
    ),
    distinctUntilChanged(),
  );
}

/** Emits the exit of an epoch once, when it happens, and completes. */
export function endOf(
  epoch: number,
  events$: Observable<AgentEvent>,
): Observable<Extract<AgentEvent, { type: 'epoch-exited' }>> {
  return events$.pipe(
    ofType('epoch-exited'),
    filter((event) => event.epoch === epoch),
    take(1),
  );
}
