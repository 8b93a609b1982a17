import { asyncScheduler, concat, distinctUntilChanged, map, type Observable, of, type SchedulerLike, switchMap, timer } from 'rxjs';
import type { AgentState } from '../agent/model.ts';
import { newestEpoch } from '../agent/newest-epoch.ts';
import type { Timing } from '../agent/timing.ts';

/**
 * Emits why the agent is not live, or undefined if it is: first what holds, then each change. It is not while the newest Envoy has been silent for as long
 * as it takes to be killed (30 s). That the agent itself lives is said by its answering at all.
 */
export function unlive(
  state$: Observable<AgentState>,
  { silent, hung }: Pick<Timing, 'silent' | 'hung'>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  return state$.pipe(
    map((state) => newestEpoch(state)?.answering === false),
    distinctUntilChanged(),
    switchMap((isSilent) =>
      isSilent ? concat(of(undefined), timer(hung - silent, scheduler).pipe(map(() => 'Envoy hangs'))) : of(undefined),
    ),
    distinctUntilChanged(),
  );
}
