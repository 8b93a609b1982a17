import {
  asyncScheduler,
  concat,
  distinctUntilChanged,
  exhaustMap,
  filter,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  share,
  startWith,
  switchMap,
  take,
  takeWhile,
  timer,
} from 'rxjs';
import { ofType } from '../operators/tagged-union.ts';
import type { AgentEvent } from './model.ts';
import type { Proxy, Health } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Asks how an epoch is, at once and then every 500 ms, every second once it is LIVE, one question at a time, and emits what is new: `epoch-live` when it is first seen LIVE,
 * `epoch-silent` after 2 s without an answer, `epoch-answered` when it is back, `epoch-hung` after 30 s.
 *
 * Never completes, never errors if the proxy does not: what ends an epoch ends the subscription.
 */
export function follow(
  epoch: number,
  proxy: Pick<Proxy, 'health'>,
  { poll, livePoll, unresponsive, hung }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  function ask(first: number, every: number): Observable<Health> {
    return timer(first, every, scheduler).pipe(exhaustMap(() => proxy.health(epoch)));
  }
  const polls$ = concat(ask(0, poll).pipe(takeWhile((answer) => answer !== 'live', true)), ask(livePoll, livePoll)).pipe(share());
  const live$ = polls$.pipe(
    filter((answer) => answer === 'live'),
    take(1),
    map((): AgentEvent => ({ type: 'epoch-live', epoch })),
  );
  const silence$ = polls$.pipe(
    filter((answer) => answer !== 'unresponsive'),
    startWith('started'),
    switchMap(() =>
      concat(
        of('epoch-answered' as const),
        timer(unresponsive, scheduler).pipe(map(() => 'epoch-unresponsive' as const)),
        timer(hung - unresponsive, scheduler).pipe(map(() => 'epoch-hung' as const)),
      ),
    ),
    distinctUntilChanged(),
    map((type): AgentEvent => ({ type, epoch })),
  );
  return merge(live$, silence$);
}

/** Emits the exit of an epoch once, when it happens, and completes. */
export function endOf(epoch: number, events$: Observable<AgentEvent>): Observable<Extract<AgentEvent, { type: 'epoch-exited' }>> {
  return events$.pipe(
    ofType('epoch-exited'),
    filter((event) => event.epoch === epoch),
    take(1),
  );
}
