import {
  asyncScheduler,
  concat,
  distinctUntilChanged,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
} from 'rxjs';
import { newestEpoch } from '../../../epochs/lineage.ts';
import type { AgentState } from '../../../epochs/model.ts';
import type { Timing } from '../../../epochs/timing.ts';
import { attentiveTimer } from '../../../operators/attentive-timer.ts';

/**
 * Emits why the agent is not live, or undefined if it is: first the current state, then each
 * change. It is not live while the newest Envoy has been silent for so long that the agent kills it
 * (30 s). Any answer shows that the agent itself lives.
 */
export function notLive(
  state$: Observable<AgentState>,
  { unresponsive, hung }: Pick<Timing, 'unresponsive' | 'hung'>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  return state$.pipe(
    map((state) => newestEpoch(state)?.answering === false),
    distinctUntilChanged(),
    switchMap((isSilent) =>
      isSilent
        ? concat(
            of(undefined),
            attentiveTimer(hung - unresponsive, scheduler).pipe(map(() => 'Envoy hangs')),
          )
        : of(undefined),
    ),
    distinctUntilChanged(),
  );
}

/**
 * Emits once why the start is not over, or undefined if it is, and completes. The start is over
 * once an Envoy has been LIVE, whatever happened later. Until then, emits why the agent is not
 * ready.
 */
export function notStarted(
  state$: Observable<AgentState>,
  unready$: Observable<string | undefined>,
): Observable<string | undefined> {
  return state$.pipe(
    take(1),
    switchMap(({ served }) =>
      served ? of(undefined) : unready$.pipe(map((reason) => reason ?? 'Envoy is starting')),
    ),
  );
}
