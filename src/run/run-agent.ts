import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  asyncScheduler,
  BehaviorSubject,
  connect,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  share,
  switchMap,
  takeWhile,
  tap,
  throttleTime,
  timestamp,
} from 'rxjs';
import { agent, type AgentTransition } from '../agent/agent.ts';
import { initialState } from '../agent/model.ts';
import type { AdoptedEpoch, Proxy } from '../agent/ports.ts';
import { type Happening, noTimeline, timeline } from '../agent/timeline.ts';
import { fixedTiming } from '../agent/timing.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { StatusEvent } from '../status/handler.ts';
import { configHash } from '../streams/config-hash.ts';
import { composeSources, type ConfigSource } from '../streams/config-source.ts';
import type { BesideEnvoy } from './beside-envoy.ts';
import { exitCodes, Fatal } from './exit.ts';
import { type Outside, real } from './outside.ts';
import type { StatusOptions } from './serve-status.ts';
import { watchExpiry } from './watch-expiry.ts';
import type { AgentConfig } from '../config/agent-config.ts';

export interface Parts extends StatusOptions {
  readonly proxy: Proxy;
  /** The Envoys that an earlier agent has left, the oldest first. */
  readonly kept: readonly AdoptedEpoch[];
  /** What Envoy is started from besides certificates and a custom configuration. */
  readonly shape: ConfigSource;
  /** Somebody sits before it: SIGHUP then means that the terminal is gone. */
  readonly terminal: boolean;
  /** Emits once when the servers that Envoy needs listen; it is not started before. */
  readonly beside$: Observable<BesideEnvoy>;
}

/**
 * The agent with all that surrounds it: files, signals and the status port on one side, Envoy on the other. Emits each transition, and
 * completes when no Envoy is left. Cold; errors with a {@link Fatal} if the status port is not to be had.
 */
export function runAgent(
  config: AgentConfig,
  { proxy, kept, admin, shape, terminal, beside$, log, setLevel, status }: Parts,
  outside: Outside = real,
): Observable<AgentTransition> {
  const state$ = new BehaviorSubject(initialState);
  const past$ = new BehaviorSubject(noTimeline);
  const keep = (happening: Happening) => past$.next(timeline(past$.value, happening));
  const families$ = new BehaviorSubject<BesideEnvoy['families']>(() => []);
  const source = composeSources(outside.files(watchedFiles(config)), shape);
  let heard = false;
  const changes$ = source.changes$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(tap(({ type }) => type === 'changed' && keep({ type: 'change-seen', at: asyncScheduler.now() }))),
        shared$.pipe(
          ofType('changed'),
          throttleTime(config.minDelay),
          tap(({ path }) => {
            heard = true;
            log({
              level: 'info',
              event: 'config.change_seen',
              msg: 'change seen: the files are read after the window',
              path,
              delayMs: config.minDelay,
            });
          }),
          ignoreElements(),
        ),
        shared$.pipe(
          ofType('watch-failed'),
          tap(({ path, reason }) =>
            log({ level: 'warn', event: 'config.watch_failed', msg: 'watching failed, and is tried again', path, reason }),
          ),
          ignoreElements(),
        ),
      ),
    ),
  );
  const hash$ = source.hash$.pipe(
    map((hashes) => createHash('sha256').update(hashes).digest('hex')), // its first characters stand for it in the log
    tap((hash) => {
      keep({ type: 'window-closed', at: asyncScheduler.now() });
      if (heard && hash === state$.value.wanted)
        log({ level: 'info', event: 'config.unchanged', msg: 'the files say what they said before' });
      heard = false;
    }),
  );
  const listening$ = of<StatusEvent>({ type: 'listening' });
  const streams = { state$, past$, families$ };
  const status$ = (config.statusPort === 0 ? listening$ : outside.serve(config, streams, { admin, log, setLevel, status })).pipe(share());
  const quit$ = status$.pipe(ofType('quit-requested'));
  const ending = ['SIGTERM', 'SIGINT', ...(terminal ? ['SIGHUP' as const] : [])] as const;
  const life$ = agent(
    {
      adopted$: of(kept).pipe(filter(({ length }) => length > 0)),
      awaited$: outside.missing(config.awaited.map((path) => resolve(path))),
      hash$: configHash({ changes$, hash$ }, { minDelay: config.minDelay }),
      restart$: merge(outside.signals(terminal ? [] : ['SIGHUP']), status$.pipe(ofType('restart-requested'))).pipe(switchMap(() => hash$)),
      drain$: status$.pipe(ofType('drain-requested')),
      reopen$: outside.signals(['SIGUSR1']),
      leave$: outside.signals(config.keepEnvoy ? ending : []),
      terminate$: merge(outside.signals(config.keepEnvoy ? [] : ending), quit$.pipe(map(() => '/quitquitquit'))),
    },
    { onCrash: config.envoyRestartPolicy, budget: config.envoyRestartBudget },
    {
      proxy,
      timing: {
        ...fixedTiming,
        parentShutdown: Math.floor(config.parentShutdownDuration / 1_000) * 1_000, // Envoy counts whole seconds
        drainMinimum: config.drainMinimum,
        drainCap: config.drainCap,
      },
      random: () => outside.random(),
    },
  );
  const expiry$ = watchExpiry(config.certificates, state$, { log, keep });
  return status$.pipe(
    filter((event) => event.type === 'listening' || event.type === 'failed'),
    // A server that breaks and listens again later is no new life. It stays subscribed meanwhile:
    // otherwise it would close, and listen anew when the servers beside Envoy are there.
    exhaustMap((event) => {
      if (event.type === 'failed') throw new Fatal(`--statusPort ${config.statusPort}: ${event.reason}`, exitCodes.unavailable);
      return beside$.pipe(
        tap(({ families }) => families$.next(families)),
        switchMap(() => merge(life$, expiry$)),
      );
    }),
    timestamp(),
    map(({ value: transition, timestamp: at }) => {
      keep({ type: 'transition', at, transition });
      state$.next(transition.state);
      return transition;
    }),
    takeWhile(({ state }) => state.phase !== 'stopped', true),
    tap({
      complete: () => log({ level: 'info', event: 'agent.ended', msg: 'the agent ends', component: 'agent', ...past$.value.counters }),
    }),
  );
}

function watchedFiles({ watched, customConfigFile }: AgentConfig): readonly string[] {
  return [...watched, customConfigFile].filter((path) => path !== '').map((path) => resolve(path));
}
