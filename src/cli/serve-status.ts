import { combineLatest, ignoreElements, map, merge, type Observable, shareReplay, tap } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AgentState } from '../agent/model.ts';
import type { Timeline } from '../agent/timeline.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { LogLine } from '../log/log-line.ts';
import { epochsNow } from '../status/epochs-now.ts';
import { lifecycleFamilies } from '../status/lifecycle-families.ts';
import { processFamilies } from '../status/process-families.ts';
import { routes } from '../status/routes.ts';
import { stateFamilies } from '../status/state-families.ts';
import type { LogLevel, StatusEvent } from '../status/status-event.ts';
import type { StatusParts } from '../status/status-parts.ts';
import { statusServer } from '../status/status-server.ts';
import { unlive } from '../status/unlive.ts';
import { unready } from '../status/unready.ts';
import { unstarted } from '../status/unstarted.ts';
import type { BesideEnvoy } from './beside-envoy.ts';

export interface StatusOptions {
  readonly admin: AdminClient;
  /** Takes what the watcher and the status server have to tell. */
  readonly tell: (line: LogLine) => void;
  /** Changes the level of the agent's own log. */
  readonly setLevel: (level: LogLevel) => void;
  readonly status: Pick<StatusParts, 'probes' | 'targets' | 'config$' | 'version'>;
}

/** What there is to tell of the agent; each emits at once, on subscribe. */
export interface Told {
  readonly state$: Observable<AgentState>;
  readonly past$: Observable<Timeline>;
  /** Makes the metrics of the servers beside Envoy as they are now. */
  readonly families$: Observable<BesideEnvoy['families']>;
}

/** Serves at a port what there is to answer, as {@link statusServer} does. */
type Listen = (port: number, parts: StatusParts) => Observable<StatusEvent>;

/** The status port over the agent's state and its past. Tells what goes wrong with it; otherwise as {@link statusServer}. */
export function serveStatus(
  { statusPort, readinessTimeout }: Pick<AgentConfig, 'statusPort' | 'readinessTimeout'>,
  { state$, past$, families$ }: Told,
  { admin, tell, setLevel, status }: StatusOptions,
  listen$: Listen = (port, parts) => statusServer(port, routes(parts)),
): Observable<StatusEvent> {
  const all$ = combineLatest([state$, past$]);
  const unready$ = unready(state$, admin, readinessTimeout);
  const unlive$ = unlive(state$, fixedTiming).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  const server$ = listen$(statusPort, {
    ...status,
    admin,
    unready$,
    notes$: state$.pipe(map(({ refused }) => (refused === undefined ? [] : [`configuration refused: ${refused.reason}`]))),
    unlive$,
    unstarted$: unstarted(state$, unready$),
    families$: combineLatest([all$, families$]).pipe(
      map(([[state, past], families]) => [...stateFamilies(state), ...lifecycleFamilies(past), ...families(), ...processFamilies()]),
    ),
    epochs$: all$.pipe(map(([state, past]) => epochsNow(state, past))),
  }).pipe(
    tap((event) => {
      if (event.type === 'broken') tell({ level: 'error', msg: 'the status server broke, and is started again', component: 'status', reason: event.reason }); // prettier-ignore
      if (event.type === 'request-failed') tell({ level: 'error', msg: 'a request could not be answered', component: 'status', path: event.path, reason: event.reason }); // prettier-ignore
      if (event.type === 'level-requested') setLevel(event.level);
    }),
  );
  return merge(unlive$.pipe(ignoreElements()), server$); // liveness counts from when Envoy fell silent, not from the first probe
}
