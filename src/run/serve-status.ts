import { combineLatest, ignoreElements, map, merge, type Observable, shareReplay, tap } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AgentState } from '../agent/model.ts';
import type { Timeline } from '../agent/timeline.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { AppProbes } from '../config/app-probes.ts';
import { metricsTargets } from '../config/metrics-targets.ts';
import type { LogLevel, LogLine } from '../log/log-line.ts';
import { lifecycleFamilies, processFamilies, stateFamilies } from '../metrics/agent-families.ts';
import type { StatusEvent, StatusParts } from '../status/handler.ts';
import { notLive, notStarted } from '../status/liveness.ts';
import { notReady } from '../status/readiness.ts';
import { routes } from '../status/routes.ts';
import { statusServer } from '../status/status-server.ts';
import type { BesideEnvoy } from './beside-envoy.ts';
import { exitCodes, Fatal } from './exit.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/** The agent's state and its past as JSON can have it. Pure. */
export function epochsNow({ epochs, ...state }: AgentState, { epochs: past, counters, certificates }: Timeline): unknown {
  return { ...state, epochs: [...epochs].map(([number, epoch]) => ({ number, ...epoch })), past, counters, certificates };
}

export interface StatusOptions {
  readonly admin: AdminClient;
  /** Takes the lines of the watcher and of the status server. */
  readonly log: (line: LogLine) => void;
  /** Changes the level of the agent's own log. */
  readonly setLevel: (level: LogLevel) => void;
  readonly status: Pick<StatusParts, 'probes' | 'targets' | 'config$' | 'version'>;
}

/** What the status port answers from; each emits at once, on subscribe. */
export interface AgentStreams {
  readonly state$: Observable<AgentState>;
  readonly past$: Observable<Timeline>;
  /** Makes the metrics of the servers beside Envoy as they are now. */
  readonly families$: Observable<BesideEnvoy['families']>;
}

/** Serves at a port what there is to answer, as {@link statusServer} does. */
type Listen = (port: number, parts: StatusParts) => Observable<StatusEvent>;

/** The status port over the agent's state and its past. Logs what goes wrong with it; otherwise as {@link statusServer}. */
export function serveStatus(
  { statusPort, readinessTimeout }: Pick<AgentConfig, 'statusPort' | 'readinessTimeout'>,
  { state$, past$, families$ }: AgentStreams,
  { admin, log, setLevel, status }: StatusOptions,
  listen$: Listen = (port, parts) => statusServer(port, routes(parts)),
): Observable<StatusEvent> {
  const all$ = combineLatest([state$, past$]);
  const unready$ = notReady(state$, admin, readinessTimeout);
  const unlive$ = notLive(state$, fixedTiming).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  const server$ = listen$(statusPort, {
    ...status,
    admin,
    unready$,
    notes$: state$.pipe(map(({ refused }) => (refused === undefined ? [] : [`configuration refused: ${refused.reason}`]))),
    unlive$,
    unstarted$: notStarted(state$, unready$),
    families$: combineLatest([all$, families$]).pipe(
      map(([[state, past], families]) => [...stateFamilies(state), ...lifecycleFamilies(past), ...families(), ...processFamilies()]),
    ),
    epochs$: all$.pipe(map(([state, past]) => epochsNow(state, past))),
  }).pipe(
    tap((event) => {
      if (event.type === 'broken') log({ level: 'error', event: 'status.broken', msg: 'the status server broke, and is started again', component: 'status', reason: event.reason }); // prettier-ignore
      if (event.type === 'request-failed') log({ level: 'error', event: 'status.request_failed', msg: 'a request could not be answered', component: 'status', path: event.path, reason: event.reason }); // prettier-ignore
      if (event.type === 'level-requested') setLevel(event.level);
    }),
  );
  return merge(unlive$.pipe(ignoreElements()), server$); // liveness counts from when Envoy fell silent, not from the first probe
}

/** What the status port is told by variables of its own: probes and metrics of the application. Rejects with a {@link Fatal} that says what is wrong with them. */
export async function statusConfig(
  { role, statusPort, proxyAdminPort }: Pick<AgentConfig, 'role' | 'statusPort' | 'proxyAdminPort'>,
  env: NodeJS.ProcessEnv,
): Promise<Pick<StatusParts, 'probes' | 'targets'>> {
  const probers = env['ISTIO_KUBE_APP_PROBERS'] ?? '';
  const read: AppProbes = probers === '' ? { ok: true, probes: new Map() } : (await import('../config/app-probes.ts')).appProbes(probers);
  if (!read.ok) throw new Fatal(`ISTIO_KUBE_APP_PROBERS: ${read.reason}`, exitCodes.config);
  const metrics = metricsTargets(
    {
      ...(role === 'sidecar' && { ISTIO_PROMETHEUS_ANNOTATIONS: env['ISTIO_PROMETHEUS_ANNOTATIONS'] ?? '' }),
      PILOT_AGENT_METRICS_TARGETS: env['PILOT_AGENT_METRICS_TARGETS'] ?? '',
    },
    new Map([
      [statusPort, 'the status port'],
      [proxyAdminPort, "Envoy's admin port"],
    ]),
  );
  if (!metrics.ok) throw new Fatal(`${metrics.place}: ${metrics.reason}`, exitCodes.config);
  return { probes: read.probes, targets: metrics.targets };
}
