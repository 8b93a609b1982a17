import {
  asyncScheduler,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  shareReplay,
  Subject,
  switchMap,
  take,
  tap,
  withLatestFrom,
} from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AgentState } from '../agent/model.ts';
import type { Timeline } from '../agent/timeline.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { buildFamily, lifecycleFamilies, partFamilies, processFamilies, stateFamilies } from '../metrics/agent-families.ts';
import { joinedByName } from '../metrics/metric-family.ts';
import type { StatusEvent, StatusParts } from '../status/handler.ts';
import { notLive, notStarted } from '../status/liveness.ts';
import { notReady } from '../status/readiness.ts';
import { routes } from '../status/routes.ts';
import { statusServer } from '../status/status-server.ts';
import { secretNotes, secretUnready } from './secret-troubles.ts';
import { controlPlaneNotes, withWaits } from './control-plane-notes.ts';
import type { KnownConfig } from './shape-source.ts';
import { sourceFamilies, sourceNotes, sourcesShown } from './source-status.ts';
import type { View } from './view.ts';

/**
 * The agent's state and its past as JSON can have it; of a reading its hash alone, for a
 * configuration may hold secrets. Pure.
 */
export function epochsNow({ epochs, wanted, ...state }: AgentState, { epochs: past, counters, certificates, stored }: Timeline): unknown {
  const claimed = 'claim' in state && state.claim !== undefined ? { claim: { ...state.claim, reading: state.claim.reading.hash } } : {};
  const processes = [...epochs].map(([number, epoch]) => ({ number, ...epoch }));
  return { ...state, ...claimed, wanted: wanted?.hash, epochs: processes, past, counters, certificates, stored };
}

/** Where Envoy finds the control plane, as far as the agent has told it; empty for nowhere. */
function asked({ config }: KnownConfig): string {
  return config.customConfigFile === '' ? config.discoveryAddress : '';
}

export interface StatusOptions {
  readonly admin: AdminClient;
  readonly status: Pick<StatusParts, 'probes' | 'targets' | 'profileToken' | 'version'>;
}

/** Serves at a port what there is to answer, as {@link statusServer} does. */
type Listen = (port: number, parts: StatusParts) => Observable<StatusEvent>;

/**
 * The status port over what is known of the run, which `view$` emits at once and then as it
 * changes. As {@link statusServer}.
 */
export function serveStatus(
  { statusPort, readinessTimeout }: Pick<AgentConfig, 'statusPort' | 'readinessTimeout'>,
  view$: Observable<View>,
  { admin, status }: StatusOptions,
  listen$: Listen = (port, parts) => statusServer(port, routes(parts)),
): Observable<StatusEvent> {
  const state$ = view$.pipe(map(({ agent }) => agent));
  const ready$ = notReady(state$, admin, readinessTimeout);
  const unserving$ = view$.pipe(
    take(1),
    switchMap(({ isBroken }) => (isBroken ? of('terminating: a bug') : ready$)),
  );
  const unready$ = unserving$.pipe(withLatestFrom(view$), map(([reason, { secrets, authority, xds, known }]) => (reason === undefined ? secretUnready(secrets, authority) : withWaits(reason, { authority, xds, address: asked(known) })))); // prettier-ignore
  const probed$ = new Subject<string | undefined>();
  const unlive$ = notLive(state$, fixedTiming).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  const server$ = listen$(statusPort, {
    ...status,
    admin,
    unready$: unready$.pipe(tap((reason) => probed$.next(reason))),
    notes$: view$.pipe(
      map(({ agent: { refused }, secrets, authority, xds, sources }) => [
        ...(refused === undefined ? [] : [`configuration refused: ${refused.reason}`]),
        ...secretNotes(secrets, authority),
        ...controlPlaneNotes(xds, asyncScheduler.now()),
        ...sourceNotes(sources),
      ]),
    ),
    unlive$,
    unstarted$: notStarted(state$, unserving$), // a pod that waits for a secret is not to be killed for it
    families$: view$.pipe(
      map(({ agent, past, readyAt, failures, families, sources }) =>
        joinedByName([
          ...stateFamilies(agent),
          ...lifecycleFamilies(past, asyncScheduler.now()),
          ...partFamilies(failures),
          ...sourceFamilies(sources),
          ...[...families.values()].flatMap((measure) => measure()),
          ...processFamilies(readyAt, asyncScheduler.now()),
          buildFamily(status.version),
        ]),
      ),
    ),
    sources$: view$.pipe(map(({ sources, known }) => sourcesShown(sources, known.config.sources))),
    epochs$: view$.pipe(map(({ agent, past }) => epochsNow(agent, past))),
    config$: view$.pipe(
      take(1),
      switchMap(async ({ known }) => (await import('./present-config.ts')).presentConfig(known)),
    ),
  });
  const becameReady$ = probed$.pipe(filter((reason) => reason === undefined), take(1), map((): StatusEvent => ({ type: 'found-ready' }))); // prettier-ignore
  return merge(becameReady$, unlive$.pipe(ignoreElements()), server$); // liveness counts from when Envoy became unresponsive, not from the first probe
}
