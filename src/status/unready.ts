import {
  asyncScheduler,
  defer,
  map,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  switchMap,
  take,
  takeLast,
  takeWhile,
  timer,
} from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AgentState } from '../agent/model.ts';
import { newestEpoch } from '../agent/newest-epoch.ts';
import { readiness, readinessFilter } from './readiness.ts';
import { unreadiness } from './unreadiness.ts';

/** While the admin endpoint goes from one epoch to the next it is refused for about 9 ms (measured, Envoy 1.36.2). In ms. */
const handOver = 250;
const again = 10;

/** Why not, if not; and whether that is worth a second look in a moment. */
interface Look {
  readonly reason: string | undefined;
  readonly fleeting: boolean;
}

/**
 * Emits once why the agent is not ready, or undefined if it is, and completes. Cold: each subscription looks anew, at `state$`, which has a value
 * at once, and then at Envoy. Never errors.
 *
 * Nothing is latched. While a child comes up its parent serves, and can not be asked: it counts as what it was, LIVE.
 */
export function unready(
  state$: Observable<AgentState>,
  admin: AdminClient,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  const look$ = state$.pipe(
    take(1),
    switchMap((state) => {
      const reason = unreadiness(state);
      const starting = newestEpoch(state)?.stage === 'starting';
      const parentServes = starting && [...state.epochs.values()].some(({ stage }) => stage === 'live');
      return reason !== undefined || parentServes ? of<Look>({ reason, fleeting: false }) : askEnvoy(admin, starting);
    }),
  );
  return defer(() => {
    const end = scheduler.now() + handOver;
    return look$.pipe(
      repeat({ delay: () => timer(again, scheduler) }),
      takeWhile(({ fleeting }) => fleeting && scheduler.now() < end, true),
      takeLast(1),
      map(({ reason }) => reason),
    );
  });
}

function askEnvoy(admin: AdminClient, starting: boolean): Observable<Look> {
  return admin.request('GET', `/stats?filter=${encodeURIComponent(readinessFilter)}`).pipe(
    map((answer): Look => {
      if (!answer.ok) return { reason: starting ? 'Envoy is starting' : 'Envoy does not answer', fleeting: !starting };
      if (answer.value.status !== 200) return { reason: `failed to get readiness stats: ${answer.value.status}`, fleeting: false };
      return { reason: readiness(answer.value.body), fleeting: false };
    }),
  );
}
