import {
  asyncScheduler,
  defer,
  map,
  type Observable,
  of,
  type SchedulerLike,
  share,
  switchMap,
  take,
  takeLast,
  tap,
} from 'rxjs';
import { type AdminClient, parseStats } from '../../../proxy/admin-client.ts';
import type { Epoch } from '../../../epochs/epoch.ts';
import { newestEpoch } from '../../../epochs/lineage.ts';
import type { AgentState } from '../../../epochs/model.ts';
import type { EpochConfig } from '../../../epochs/ports.ts';
import { pollUntil } from '../../../operators/poll-until.ts';

/** The statistics that {@link readiness} needs, as Envoy's `filter` takes them. */
export const readinessFilter =
  '^(server\\.state|listener_manager\\.workers_started|(cluster_manager\\.cds|listener_manager\\.lds)\\.update_(success|rejected|time))$';

const states = ['LIVE', 'DRAINING', 'PRE_INITIALIZING', 'INITIALIZING'];

/**
 * Returns why Envoy is not ready, from its statistics as text; undefined if it is.
 *
 * Envoy is ready if it is LIVE, its workers have started, and it has received each type that it
 * subscribes to (clusters, listeners) at least once. Envoy 1.36 has the statistics of a
 * subscription only if it has the subscription. With `subscribes` it must have both subscriptions,
 * and a missing statistic means that nothing has come; the Go agent always assumes so. A gauge
 * shows when a type came: the counters of a child include its parent's (measured, Envoy 1.36.2).
 */
export function readiness(body: string, subscribes = false): string | undefined {
  const stats = parseStats(body);
  const state = stats.get('server.state');
  const started = stats.get('listener_manager.workers_started');
  if (state === undefined || started === undefined) return 'failed to get readiness stats';

  const [cds, lds] = ['cluster_manager.cds', 'listener_manager.lds'].map((name) => {
    const isThere =
      subscribes ||
      ['time', 'success', 'rejected'].some((stat) => stats.has(`${name}.update_${stat}`));
    const successful =
      stats.get(`${name}.update_time`) === 0 ? 0 : (stats.get(`${name}.update_success`) ?? 0);
    return {
      successful: isThere ? successful : undefined,
      rejected: stats.get(`${name}.update_rejected`) ?? 0,
    };
  });
  if (cds?.successful === 0 || lds?.successful === 0) {
    const count = (updates: typeof cds) =>
      `${updates?.successful ?? 0} successful, ${updates?.rejected ?? 0} rejected`;
    return `config not received from Pilot (is Pilot running?): cds updates: ${count(cds)}; lds updates: ${count(lds)}`;
  }
  if (state !== 0) return `server is not live, current state is: ${states[state] ?? String(state)}`;
  return started === 1 ? undefined : 'workers have not yet started';
}

/**
 * In ms. While the admin endpoint goes from one epoch to the next, it refuses connections for about
 * 9 ms (measured, Envoy 1.36.2).
 */
const handOver = 250;
const again = 10;
/** In ms. How long Envoy's answer that it is ready is valid. */
const validFor = 100;

/** The reason why the agent is not ready, if any; and whether the reason may change in a moment. */
interface Look {
  readonly reason: string | undefined;
  readonly fleeting: boolean;
}

/**
 * Emits once why the agent is not ready, or undefined if it is, and completes. Cold: each
 * subscription reads `state$`, which has a value at once, and then asks Envoy, which has
 * `timeoutMs` ms to answer. Never errors.
 *
 * Simultaneous probes share one request to Envoy. Its answer that it is ready is valid for 100 ms,
 * and no longer. The agent's own state is read each time, and nothing is latched. While a child
 * starts, its parent serves and cannot be asked: it counts as LIVE, as before. So does a parent
 * whose child was killed during its start.
 */
export function notReady(
  state$: Observable<AgentState>,
  admin: Pick<AdminClient, 'request'> | undefined,
  timeoutMs?: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  const envoy = admin === undefined ? undefined : shared(admin, timeoutMs, scheduler);
  const look$ = state$.pipe(
    take(1),
    switchMap((state) => {
      const reason = unreadiness(state);
      const newest = newestEpoch(state);
      const starting = newest?.stage === 'starting';
      const parentServes =
        starting && [...state.epochs.values()].some(({ stage }) => stage === 'live');
      const isUnasked = parentServes || newest?.mute === true;
      if (reason !== undefined || isUnasked) return of<Look>({ reason, fleeting: false });
      return envoy === undefined
        ? of<Look>({ reason: starting ? 'Envoy is starting' : undefined, fleeting: false })
        : envoy.look(newest?.number, starting, state.wanted?.config);
    }),
  );
  return look$.pipe(
    pollUntil(({ fleeting }) => !fleeting, { every: again, limit: handOver }, scheduler),
    takeLast(1),
    map(({ reason }) => reason),
  );
}

/**
 * Asks Envoy once for all probes that come during the request, or a moment after the answer that it
 * is ready. Another epoch needs another request.
 */
function shared(
  admin: Pick<AdminClient, 'request'>,
  timeoutMs: number | undefined,
  scheduler: SchedulerLike,
) {
  let question: { readonly about: string; readonly look$: Observable<Look> } | undefined;
  return {
    look(
      epoch: number | undefined,
      starting: boolean,
      config: EpochConfig | undefined,
    ): Observable<Look> {
      const about = `${String(epoch)} ${String(starting)}`;
      if (question?.about !== about) {
        const look$ = askEnvoy(admin, timeoutMs, starting, config);
        question = { about, look$: validForAMoment(look$, scheduler) };
      }
      return question.look$;
    },
  };
}

function validForAMoment(look$: Observable<Look>, scheduler: SchedulerLike): Observable<Look> {
  let readyAt: number | undefined;
  const shared$ = look$.pipe(
    tap(({ reason }) => (readyAt = reason === undefined ? scheduler.now() : undefined)),
    share(),
  );
  return defer(() => {
    const age = readyAt === undefined ? validFor : scheduler.now() - readyAt;
    const isValid = age >= 0 && age < validFor; // the clock may have been set back
    return isValid ? of<Look>({ reason: undefined, fleeting: false }) : shared$;
  });
}

/** A bootstrap of the agent subscribes to both, unless a template changed that. */
function subscribes(config: EpochConfig | undefined): boolean {
  return (
    config?.kind === 'generated' &&
    ['cds_config', 'lds_config'].every((field) => config.text.includes(field))
  );
}

function askEnvoy(
  admin: Pick<AdminClient, 'request'>,
  timeoutMs: number | undefined,
  starting: boolean,
  config: EpochConfig | undefined,
): Observable<Look> {
  return admin
    .request('GET', `/stats?filter=${encodeURIComponent(readinessFilter)}`, timeoutMs)
    .pipe(
      map((answer): Look => {
        if (!answer.ok)
          return {
            reason: starting ? 'Envoy is starting' : 'Envoy does not answer',
            fleeting: !starting,
          };
        if (answer.value.status !== 200)
          return {
            reason: `failed to get readiness stats: ${answer.value.status}`,
            fleeting: false,
          };
        return { reason: readiness(answer.value.body, subscribes(config)), fleeting: false };
      }),
    );
}

/** Whether an Envoy comes up while another one serves, which cannot be asked. */
function anotherServes(state: AgentState): boolean {
  const isServing = ({ stage, answering }: Epoch) => stage === 'live' && answering;
  return newestEpoch(state)?.stage === 'starting' && [...state.epochs.values()].some(isServing);
}

/**
 * Returns why the agent is not ready, as far as its own state shows, in one line; undefined if the
 * state has no reason.
 */
export function unreadiness(state: AgentState): string | undefined {
  if (state.phase === 'draining') return 'draining';
  if (state.phase !== 'running') return 'terminating';
  const newest = newestEpoch(state);
  if (newest === undefined) {
    if (state.refused !== undefined)
      return `Envoy is not running: configuration refused: ${state.refused.reason}`;
    if (state.awaited.length > 0) return `waiting for ${state.awaited.join(', ')}`;
    return state.lastEpoch < 0
      ? 'Envoy has not been started yet'
      : 'Envoy has crashed and waits to be started again';
  }
  if (newest.stage === 'stopping' || state.claim?.stage === 'replacing')
    return 'Envoy is being replaced';
  if (newest.stage === 'draining') return 'Envoy has crashed and waits to be started again';
  return newest.answering || anotherServes(state) ? undefined : 'Envoy does not answer';
}
