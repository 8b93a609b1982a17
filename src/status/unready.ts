import {
  asyncScheduler,
  defer,
  map,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  share,
  switchMap,
  take,
  takeLast,
  takeWhile,
  tap,
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
/** How long ago Envoy may have said that it is ready. In ms. */
const fresh = 100;

/** Why not, if not; and whether that is worth a second look in a moment. */
interface Look {
  readonly reason: string | undefined;
  readonly fleeting: boolean;
}

/**
 * Emits once why the agent is not ready, or undefined if it is, and completes. Cold: each subscription looks at `state$`, which has a value
 * at once, and then at Envoy, which has `patience` ms to answer. Never errors.
 *
 * Probes at the same time share one question to Envoy. That it is ready counts for 100 ms, and no longer; the agent's own state is looked at each
 * time, and nothing is latched. While a child comes up its parent serves, and can not be asked: it counts as what it was, LIVE.
 */
export function unready(
  state$: Observable<AgentState>,
  admin: Pick<AdminClient, 'request'>,
  patience?: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  const envoy = shared(admin, patience, scheduler);
  const look$ = state$.pipe(
    take(1),
    switchMap((state) => {
      const reason = unreadiness(state);
      const newest = newestEpoch(state);
      const starting = newest?.stage === 'starting';
      const parentServes = starting && [...state.epochs.values()].some(({ stage }) => stage === 'live');
      return reason !== undefined || parentServes ? of<Look>({ reason, fleeting: false }) : envoy.look(newest?.number, starting);
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

/** Looks at Envoy, once for all who ask while the question is under way, and while it is known since a moment that Envoy is ready. Another epoch is another question. */
function shared(admin: Pick<AdminClient, 'request'>, patience: number | undefined, scheduler: SchedulerLike) {
  let asked: string | undefined;
  let readyUntil = 0;
  let asking$: Observable<Look> | undefined;
  return {
    look(epoch: number | undefined, starting: boolean): Observable<Look> {
      const about = `${String(epoch)} ${String(starting)}`;
      if (asking$ !== undefined && asked === about)
        return scheduler.now() < readyUntil ? of<Look>({ reason: undefined, fleeting: false }) : asking$;
      asked = about;
      asking$ = askEnvoy(admin, patience, starting).pipe(
        tap(({ reason }) => (readyUntil = reason === undefined ? scheduler.now() + fresh : 0)),
        share(),
      );
      return asking$;
    },
  };
}

function askEnvoy(admin: Pick<AdminClient, 'request'>, patience: number | undefined, starting: boolean): Observable<Look> {
  return admin.request('GET', `/stats?filter=${encodeURIComponent(readinessFilter)}`, patience).pipe(
    map((answer): Look => {
      if (!answer.ok) return { reason: starting ? 'Envoy is starting' : 'Envoy does not answer', fleeting: !starting };
      if (answer.value.status !== 200) return { reason: `failed to get readiness stats: ${answer.value.status}`, fleeting: false };
      return { reason: readiness(answer.value.body), fleeting: false };
    }),
  );
}
