import { resolve } from 'node:path';
import {
  asyncScheduler,
  combineLatest,
  concat,
  defer,
  filter,
  first,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  shareReplay,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  withLatestFrom,
} from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import type { AgentState } from '../../../epochs/model.ts';
import { fixedTiming } from '../../../epochs/timing.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import {
  buildFamily,
  lifecycleFamilies,
  partFamilies,
  processFamilies,
  stateFamilies,
} from '../../report/agent-families.ts';
import { certificateExpiryFamily } from '../../secrets/expiry-family.ts';
import { joinedByName, type MetricFamily } from '../../../shared/metrics/metric-family.ts';
import { epochsReport } from '../../report/epoch-report.ts';
import type { LogReport } from '../../report/live-events.ts';
import type { StatusEvent } from '../../status/status-event.ts';
import type { StatusParts } from '../../status/status-parts.ts';
import { notLive, notStarted } from '../../status/probe/liveness.ts';
import { routes } from '../../status/routes.ts';
import { statusServer, statusSocket } from '../../../shared/http/status-server.ts';
import { agentReport, type Identity, pushReports } from './make-report.ts';
import { crashNotes } from './crash-notes.ts';
import { controlPlaneNotes } from './control-plane-notes.ts';
import { firstReadiness } from './first-readiness.ts';
import { secretNotes } from '../state/secret-troubles.ts';
import { sourceFamilies, sourceNotes, sourcesShown } from '../state/source-status.ts';
import { serviceFigures } from './request-figures.ts';
import { traffic } from './traffic.ts';
import type { RunView } from '../state/view.ts';
import { whyUnready } from './why-unready.ts';

export interface StatusOptions {
  readonly admin: AdminClient;
  /** The origin of readiness: `state` if something else runs in the place of Envoy. */
  readonly readyBy?: 'envoy' | 'state';
  readonly status: Pick<
    StatusParts,
    'probes' | 'probeHosts' | 'targets' | 'profileToken' | 'beforeScrapes' | 'version'
  >;
  readonly identity: Identity;
  readonly lines$: Observable<readonly LogReport[]>;
}

/** How the status port and socket listen: {@link statusServer} and {@link statusSocket}. */
interface Listen {
  port(port: number, parts: StatusParts): Observable<StatusEvent>;
  socket(path: string, parts: StatusParts): Observable<StatusEvent>;
}

const real: Listen = {
  port: (port, parts) => statusServer(port, routes(parts)),
  socket: (path, parts) => statusSocket(path, routes({ ...parts, showsLog: true })),
};

/**
 * Runs the status port and the status socket over the view of the run, which `view$` emits at once
 * and when it changes. Works as {@link statusServer}; without a port it emits `listening` at once.
 */
export function serveStatus(
  config: StatusConfig,
  view$: Observable<RunView>,
  options: StatusOptions,
  listen: Listen = real,
): Observable<StatusEvent> {
  const { admin, readyBy = 'envoy' } = options;
  const { statusPort, configPath } = config;
  const state$ = view$.pipe(map(({ agent }) => agent));
  const { unready$: reason$, unserving$ } = whyUnready(
    view$,
    readyBy === 'envoy' ? admin : undefined,
    config.readinessTimeout,
  );
  const probed$ = new Subject<string | undefined>();
  const health: Health = {
    unready$: reason$.pipe(tap((reason) => probed$.next(reason))),
    unlive$: notLive(state$, fixedTiming).pipe(shareReplay({ bufferSize: 1, refCount: true })),
    unstarted$: notStarted(state$, unserving$), // a pod that waits for a secret must not be killed for it
  };
  const parts = statusParts(config, view$, health, options);
  return merge(
    readinessEvents(state$, health.unready$, probed$),
    health.unlive$.pipe(ignoreElements()), // liveness counts from when Envoy became unresponsive, not from the first probe
    listen.socket(resolve(configPath, 'status'), parts),
    statusPort === 0
      ? concat(of<StatusEvent>({ type: 'listening' }), NEVER)
      : listen.port(statusPort, parts),
  );
}

type StatusConfig = Pick<
  AgentConfig,
  'statusPort' | 'readinessTimeout' | 'configPath' | 'statusPage' | 'statusPageLog'
>;

/** The answers to probes: each emits a reason, or undefined if all is well. */
type Health = Pick<StatusParts, 'unready$' | 'unlive$' | 'unstarted$'>;

/** Makes everything that the routes of the status port show. */
function statusParts(
  { statusPage, statusPageLog }: StatusConfig,
  view$: Observable<RunView>,
  health: Health,
  { admin, status, identity, lines$ }: StatusOptions,
): StatusParts {
  const notes$ = view$.pipe(map(notesOf));
  const report$ = combineLatest([health.unready$, health.unlive$, notes$]).pipe(
    take(1),
    withLatestFrom(view$),
    map(([[unready, unlive, notes], view]) =>
      agentReport(view, identity, { unready, unlive, notes, now: asyncScheduler.now() }),
    ),
  );
  const live = { view$, report$, traffic$: traffic(view$, admin), service$: serviceFigures(admin) };
  return {
    ...status,
    ...health,
    admin,
    notes$,
    families$: view$.pipe(map((view) => familiesOf(view, status.version))),
    sources$: view$.pipe(
      map(({ sources, validConfig: { config } }) => sourcesShown(sources, config.sources)),
    ),
    epochs$: view$.pipe(map((view) => epochsReport(view.agent, view.past, pushReports(view)))),
    report$,
    live$: (withLog) =>
      defer(() => import('./tell-live.ts')).pipe(
        switchMap((module) => module.liveEvents({ ...live, lines$ }, withLog)),
      ),
    hasPage: statusPage,
    showsLog: statusPageLog,
    config$: view$.pipe(
      take(1),
      switchMap(async ({ validConfig }) =>
        (await import('../start/present-config.ts')).presentConfig(validConfig),
      ),
    ),
  };
}

function notesOf({
  agent: { refused },
  past,
  secrets,
  authority,
  xds,
  sources,
}: RunView): readonly string[] {
  return [
    ...(refused === undefined ? [] : [`configuration refused: ${refused.reason}`]),
    ...crashNotes(past, asyncScheduler.now()),
    ...secretNotes(secrets, authority),
    ...controlPlaneNotes(xds, asyncScheduler.now()),
    ...sourceNotes(sources),
  ];
}

function familiesOf(
  { agent, past, readyAt, failures, families, sources, certificates }: RunView,
  version: StatusParts['version'],
): readonly MetricFamily[] {
  return joinedByName([
    ...stateFamilies(agent),
    ...lifecycleFamilies(past),
    certificateExpiryFamily(certificates, asyncScheduler.now()),
    ...partFamilies(failures),
    ...sourceFamilies(sources),
    ...[...families.values()].flatMap((measure) => measure()),
    ...processFamilies(readyAt, asyncScheduler.now()),
    buildFamily(version),
  ]);
}

/**
 * Emits when the agent is first ready. The agent does not wait for a probe: from the first Envoy on
 * it checks until Envoy is first ready.
 */
function readinessEvents(
  state$: Observable<AgentState>,
  unready$: Health['unready$'],
  probed$: Observable<string | undefined>,
): Observable<StatusEvent> {
  const isReady$ = probed$.pipe(filter((reason) => reason === undefined));
  const spawned$ = state$.pipe(
    first(({ epochs }) => [...epochs.values()].some(({ pid }) => pid !== undefined)),
  );
  const unreadyYet$ = spawned$.pipe(
    switchMap(() => firstReadiness(unready$)),
    takeUntil(isReady$),
  );
  const becameReady$ = isReady$.pipe(
    take(1),
    map((): StatusEvent => ({ type: 'found-ready' })),
  );
  return merge(becameReady$, unreadyYet$);
}
