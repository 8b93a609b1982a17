import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  concat,
  connect,
  distinctUntilChanged,
  exhaustMap,
  filter,
  map,
  merge,
  type Observable,
  of,
  takeUntil,
  takeWhile,
  timestamp,
} from 'rxjs';
import { agent, type AgentTransition } from '../agent/agent.ts';
import type { ConfigEvent } from '../agent/model.ts';
import type { AdoptedEpoch, Proxy, Reading } from '../agent/ports.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { feedback, type Fold } from '../operators/feedback.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { StatusEvent } from '../status/handler.ts';
import { certificateExpiry, type CertificateSign } from '../streams/certificate-expiry.ts';
import { composeSources, type ConfigSource } from '../streams/config-source.ts';
import { type SourceSign, sourceSigns } from '../streams/readings.ts';
import { type Outside, real } from './outside.ts';
import type { StatusOptions } from './serve-status.ts';
import type { KnownConfig, ShapedConfig } from './shape-source.ts';
import { firstView, type RunEvent, type RunSign, type ServersSign, type View, view } from './view.ts';

export interface Parts extends StatusOptions {
  readonly proxy: Proxy;
  /** The Envoys that an earlier agent has left, the oldest first. */
  readonly adopted: readonly AdoptedEpoch[];
  /** What Envoy is started from besides certificates and a custom configuration. */
  readonly shape: ConfigSource<ShapedConfig>;
  /** The configuration that the agent was started with. */
  readonly known: KnownConfig;
  /** The agent has a terminal: SIGHUP then means that the terminal is gone. */
  readonly terminal: boolean;
  /** Tells when the servers that Envoy needs listen; Envoy is not started before. Never errors. */
  readonly servers$: Observable<ServersSign>;
}

/**
 * The agent with all that surrounds it: files, signals and the status port on one side, Envoy on the other. Emits all that happens, each with what is
 * known before and after it, and completes when no Envoy is left, or when the status port or another server cannot listen.
 *
 * Cold: a subscription is an agent. Errors only by a bug.
 */
export function runAgent(config: AgentConfig, parts: Parts, outside: Outside = real): Observable<Fold<View, RunEvent>> {
  const source = hashed(composeSources(outside.files(watchedFiles(config)), parts.shape));

  /** Files and signals: what the sources tell, readings by hand, and what the agent makes of both. */
  function life(requests$: Observable<StatusEvent>, view$: Observable<View>): Observable<RunSign> {
    const awaited$ = outside.missing(config.awaited.map((path) => resolve(path)));
    const orders$ = merge(outside.signals(parts.terminal ? [] : ['SIGHUP']), requests$.pipe(ofType('restart-requested')));
    const config$ = orders$.pipe(
      connect((shared$) =>
        concat(awaited$.pipe(map(filesAwaited), takeUntil(shared$)), sourceSigns(source, { minDelay: config.minDelay }, shared$)),
      ),
    );
    return merge(
      config$.pipe(connect((signs$) => merge(signs$.pipe(filter(isSourceSign)), transitions(signs$, requests$)))),
      expiry(view$),
    );
  }

  function transitions(signs$: Observable<ConfigSign>, requests$: Observable<StatusEvent>): Observable<RunSign> {
    const ending = ['SIGTERM', 'SIGINT', ...(parts.terminal ? ['SIGHUP' as const] : [])] as const;
    const quit$ = requests$.pipe(ofType('quit-requested'));
    return agent(
      {
        adopted$: of(parts.adopted).pipe(filter(({ length }) => length > 0)),
        config$: signs$.pipe(map(toConfigEvent), filter((event) => event !== undefined)), // prettier-ignore
        restart$: signs$.pipe(ofType('read'), filter(({ isOrdered }) => isOrdered), map(({ reading }) => toEpochReading(reading))), // prettier-ignore
        drain$: requests$.pipe(ofType('drain-requested')),
        reopen$: outside.signals(['SIGUSR1']),
        leave$: outside.signals(config.keepEnvoy ? ending : []),
        terminate$: merge(outside.signals(config.keepEnvoy ? [] : ending), quit$.pipe(map(() => '/quitquitquit'))),
      },
      { onCrash: config.envoyRestartPolicy, budget: config.envoyRestartBudget },
      {
        proxy: parts.proxy,
        timing: {
          ...fixedTiming,
          parentShutdown: config.parentShutdownDuration,
          drainMinimum: config.drainMinimum,
          drainCap: config.drainCap,
        },
        random: () => outside.random(),
      },
    ).pipe(map((transition: AgentTransition) => ({ type: 'transition', transition })));
  }

  /** When the certificates expire that each Envoy serves. */
  function expiry(view$: Observable<View>): Observable<CertificateSign> {
    const live$ = view$.pipe(
      map(({ agent: { epochs } }) => [...epochs].findLast(([, { stage }]) => stage === 'live')?.[0]),
      distinctUntilChanged(),
      filter((epoch) => epoch !== undefined),
    );
    return certificateExpiry(config.certificates.map(({ chain }) => resolve(chain)), live$); // prettier-ignore
  }

  return feedback(firstView(parts.known), view, (view$) => {
    const listening$ = of<StatusEvent>({ type: 'listening' });
    const status$ = config.statusPort === 0 ? listening$ : outside.serve(config, view$, parts);
    return status$.pipe(
      connect((requests$) => {
        // A server that breaks and listens again later is no new life.
        const servers$ = requests$.pipe(ofType('listening'), exhaustMap(() => parts.servers$)); // prettier-ignore
        const life$ = servers$.pipe(
          connect((shared$) => merge(shared$, shared$.pipe(ofType('servers-listening'), exhaustMap(() => life(requests$, view$))))), // prettier-ignore
        );
        return merge(requests$, life$);
      }),
      timestamp(),
      map(({ value: sign, timestamp: at }): RunEvent => ({ sign, at })),
      takeWhile(({ sign }) => !isEnd(sign), true),
    );
  });
}

type Read = Extract<SourceSign<ShapedConfig>, { type: 'read' }>;
type ConfigSign = SourceSign<ShapedConfig> | Extract<ConfigEvent, { type: 'files-awaited' }>;

function filesAwaited(missing: readonly string[]): ConfigSign {
  return { type: 'files-awaited', missing };
}

function isSourceSign(sign: ConfigSign): sign is SourceSign<ShapedConfig> {
  return sign.type !== 'files-awaited';
}

/** What the agent is told of a sign; undefined where that is nothing. */
function toConfigEvent(sign: ConfigSign): ConfigEvent | undefined {
  if (sign.type === 'files-awaited') return sign;
  return sign.type === 'read' && sign.isNew && !sign.isOrdered
    ? { type: 'config-changed', reading: toEpochReading(sign.reading) }
    : undefined;
}

function toEpochReading(reading: Read['reading']): Reading {
  return { ...reading, config: reading.config?.epoch ?? { kind: 'refused', reason: 'no source says what Envoy is started from' } };
}

/** The run is over: the agent has stopped, or what it needs is not to be had. */
function isEnd(sign: RunSign): boolean {
  if (sign.type === 'transition') return sign.transition.state.phase === 'stopped';
  return sign.type === 'failed' || sign.type === 'servers-failed';
}

/** A source whose hash is of a fixed length: its first characters stand for it in the log. */
function hashed<Config>({ changes$, reading$ }: ConfigSource<Config>): ConfigSource<Config> {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  return { changes$, reading$: reading$.pipe(map((reading) => ({ ...reading, hash: sha256(reading.hash) }))) };
}

function watchedFiles({ watched, customConfigFile }: AgentConfig): readonly string[] {
  return [...watched, customConfigFile].filter((path) => path !== '').map((path) => resolve(path));
}
