import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  BehaviorSubject,
  connect,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  share,
  shareReplay,
  switchMap,
  take,
  takeWhile,
  tap,
  throttleTime,
} from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import { agent, type AgentTransition } from '../agent/agent.ts';
import { initialState } from '../agent/initial-state.ts';
import type { Proxy } from '../agent/ports.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { LogLine } from '../log/log-line.ts';
import { ofType } from '../operators/of-type.ts';
import { epochsNow } from '../status/epochs-now.ts';
import { processFamilies } from '../status/process-families.ts';
import { routes } from '../status/routes.ts';
import { stateFamilies } from '../status/state-families.ts';
import type { LogLevel, StatusEvent } from '../status/status-event.ts';
import type { StatusParts } from '../status/status-parts.ts';
import { statusServer } from '../status/status-server.ts';
import { unlive } from '../status/unlive.ts';
import { unready } from '../status/unready.ts';
import { unstarted } from '../status/unstarted.ts';
import { composeSources } from '../streams/compose-sources.ts';
import { configHash } from '../streams/config-hash.ts';
import type { ConfigSource } from '../streams/config-source.ts';
import { fileSource } from '../streams/file-source.ts';
import { signals } from '../streams/signals.ts';
import { waitForFiles } from '../streams/wait-for-files.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

export interface Parts {
  readonly proxy: Proxy;
  readonly admin: AdminClient;
  /** What Envoy is started from besides certificates and a custom configuration. */
  readonly shape: ConfigSource;
  /** Somebody sits before it: SIGHUP then means that the terminal is gone. */
  readonly terminal: boolean;
  /** Takes what the watcher and the status server have to tell. */
  readonly tell: (line: LogLine) => void;
  /** Changes the level of the agent's own log. */
  readonly setLevel: (level: LogLevel) => void;
  readonly status: Pick<StatusParts, 'probes' | 'targets' | 'config' | 'version'>;
}

/**
 * The agent with all that surrounds it: files, signals and the status port on one side, Envoy on the other. Emits each transition, and
 * completes when no Envoy is left. Cold; errors with a {@link Fatal} if the status port is not to be had.
 */
export function runAgent(
  config: AgentConfig,
  { proxy, admin, shape, terminal, tell, setLevel, status }: Parts,
): Observable<AgentTransition> {
  const state$ = new BehaviorSubject(initialState);
  const source = composeSources(fileSource(watchedFiles(config)), shape);
  let heard = false;
  const changes$ = source.changes$.pipe(
    connect((shared$) =>
      merge(
        shared$,
        shared$.pipe(
          ofType('changed'),
          throttleTime(config.minDelay),
          tap(({ path }) => {
            heard = true;
            tell({ level: 'info', msg: 'change seen: the files are read after the window', path, delayMs: config.minDelay });
          }),
          ignoreElements(),
        ),
        shared$.pipe(
          ofType('watch-failed'),
          tap(({ path, reason }) => tell({ level: 'warn', msg: 'watching failed, and is tried again', path, reason })),
          ignoreElements(),
        ),
      ),
    ),
  );
  const hash$ = source.hash$.pipe(
    map((hashes) => createHash('sha256').update(hashes).digest('hex')), // its first characters stand for it in the log
    tap((hash) => {
      if (heard && hash === state$.value.wanted) tell({ level: 'info', msg: 'the files say what they said before' });
      heard = false;
    }),
  );
  const listening$ = of<StatusEvent>({ type: 'listening' });
  const unready$ = unready(state$, admin);
  const unlive$ = unlive(state$, fixedTiming).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  const parts: StatusParts = {
    ...status,
    admin,
    unready$,
    unlive$,
    unstarted$: unstarted(state$, unready$),
    families$: state$.pipe(map((state) => [...stateFamilies(state), ...processFamilies()])),
    epochs$: state$.pipe(map(epochsNow)),
  };
  const status$ = (config.statusPort === 0 ? listening$ : statusServer(config.statusPort, routes(parts))).pipe(
    tap((event) => {
      if (event.type === 'broken') tell({ level: 'error', msg: 'the status server broke, and is started again', component: 'status', reason: event.reason }); // prettier-ignore
      if (event.type === 'request-failed') tell({ level: 'error', msg: 'a request could not be answered', component: 'status', path: event.path, reason: event.reason }); // prettier-ignore
      if (event.type === 'level-requested') setLevel(event.level);
    }),
    share(),
  );
  const quit$ = status$.pipe(
    ofType('quit-requested'),
    map(() => '/quitquitquit'),
  );
  const life$ = agent(
    {
      awaited$: waitForFiles(config.awaited.map((path) => resolve(path))),
      hash$: configHash({ changes$, hash$ }, { minDelay: config.minDelay }),
      restart$: merge(signals(terminal ? [] : ['SIGHUP']), status$.pipe(ofType('restart-requested'))).pipe(switchMap(() => hash$)),
      drain$: status$.pipe(ofType('drain-requested')),
      reopen$: signals(['SIGUSR1']),
      terminate$: merge(signals(['SIGTERM', 'SIGINT', ...(terminal ? (['SIGHUP'] as const) : [])]), quit$),
    },
    { onCrash: config.envoyRestartPolicy, budget: config.envoyRestartBudget },
    {
      proxy,
      timing: {
        ...fixedTiming,
        parentShutdown: config.parentShutdownDuration,
        drainMinimum: config.drainMinimum,
        drainCap: config.drainCap,
      },
      random: Math.random,
    },
  );
  return status$.pipe(
    filter((event) => event.type === 'listening' || event.type === 'failed'),
    take(1), // a server that breaks later and listens again is no new life
    switchMap((event) => {
      if (event.type === 'failed') throw new Fatal(`--statusPort ${config.statusPort}: ${event.reason}`, exitCodes.unavailable);
      return merge(life$, unlive$.pipe(ignoreElements())); // which counts from when Envoy fell silent, not from the first probe
    }),
    tap(({ state }) => state$.next(state)),
    takeWhile(({ state }) => state.phase !== 'stopped', true),
  );
}

function watchedFiles({ watched, customConfigFile }: AgentConfig): readonly string[] {
  return [...watched, customConfigFile].filter((path) => path !== '').map((path) => resolve(path));
}
