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
import type { AgentEvent } from './model.ts';
import type { Proxy, Vitals } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Asks how an epoch is, at once and then every 500 ms, every second once it is LIVE, one question at a time, and emits what is new: `epoch-live` when it is first seen LIVE,
 * `epoch-silent` after 2 s without an answer, `epoch-answered` when it is back, `epoch-hung` after 30 s.
 *
 * Never completes, never errors if the proxy does not: what ends an epoch ends the subscription.
 */
export function follow(
  epoch: number,
  proxy: Pick<Proxy, 'vitals'>,
  { poll, livePoll, silent, hung }: Timing,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AgentEvent> {
  function ask(first: number, every: number): Observable<Vitals> {
    return timer(first, every, scheduler).pipe(exhaustMap(() => proxy.vitals(epoch)));
  }
  const polls$ = concat(ask(0, poll).pipe(takeWhile((answer) => answer !== 'live', true)), ask(livePoll, livePoll)).pipe(share());
  const live$ = polls$.pipe(
    filter((answer) => answer === 'live'),
    take(1),
    map((): AgentEvent => ({ type: 'epoch-live', epoch })),
  );
  const silence$ = polls$.pipe(
    filter((answer) => answer !== 'silent'),
    startWith('started'),
    switchMap(() =>
      concat(
        of('epoch-answered' as const),
        timer(silent, scheduler).pipe(map(() => 'epoch-silent' as const)),
        timer(hung - silent, scheduler).pipe(map(() => 'epoch-hung' as const)),
      ),
    ),
    distinctUntilChanged(),
    map((type): AgentEvent => ({ type, epoch })),
  );
  return merge(live$, silence$);
}
