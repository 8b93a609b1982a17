import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  catchError,
  concat,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  map,
  merge,
  type Observable,
  of,
  skip,
  startWith,
  switchMap,
  takeUntil,
  takeWhile,
  timestamp,
} from 'rxjs';
import { agent, type AgentTransition } from '../../epochs/agent.ts';
import type { AdoptedEpoch, Proxy } from '../../epochs/ports.ts';
import { fixedTiming, type Timing } from '../../epochs/timing.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { feedback, type Fold } from '../../operators/feedback.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { StatusEvent } from '../status/status-event.ts';
import { noSource } from '../sources/compose.ts';
import type { ContributingSource } from '../sources/contribution.ts';
import {
  composeSources,
  type ConfigSource,
  type SourceChange,
} from '../../streams/config-source.ts';
import { sourceSigns } from '../../streams/readings.ts';
import {
  type ConfigSign,
  filesAwaited,
  isOrdered,
  isSourceSign,
  toConfigEvent,
  toEpochReading,
  toSign,
} from './config-signs.ts';
import { awaitedSources } from './sources/awaited-sources.ts';
import { afterBug, bugOf } from './end/bug.ts';
import { uncaughtSign } from './end/broken-connection.ts';
import { missingResources } from './status/control-plane-notes.ts';
import { type ProcessKeeper, keepProcesses } from './start/process-keeper.ts';
import { lastDrain } from './end/last-drain.ts';
import { type Outside, real } from './outside.ts';
import { asPart, asServer, type PartFailed } from './state/part.ts';
import { runStep } from './run-step.ts';
import { servingEnvoy } from './serving-envoy.ts';
import type { StatusOptions } from './status/serve-status.ts';
import type { ConfigWithSources, ShapedConfig } from './start/shape-source.ts';
import { watchedFiles } from './start/watched-files.ts';
import {
  firstView,
  type RunEvent,
  type RunSign,
  type ServersSign,
  type RunView,
} from './state/view.ts';

export interface Parts extends StatusOptions {
  readonly proxy: Proxy;
  /** The Envoys that an earlier agent has left, oldest first. */
  readonly adopted: readonly AdoptedEpoch[];
  /** Everything that Envoy is started from, except certificates and a custom configuration. */
  readonly shape: ConfigSource<ShapedConfig>;
  /** The sources of configuration that the shape is also made from. */
  readonly beside?: ContributingSource;
  /** The configuration that the agent was started with. */
  readonly startConfig: ConfigWithSources;
  /** When the agent was started: ms since 1970. */
  readonly startedAt: number;
  /** The agent has a terminal: SIGHUP then means that the terminal was closed. */
  readonly terminal: boolean;
  /**
   * Emits when the servers that Envoy needs listen; Envoy is not started before. Its argument is
   * the configuration in effect. Never errors.
   */
  readonly servers$: (
    validConfig$: Observable<ConfigWithSources>,
  ) => Observable<ServersSign | PartFailed>;
}

/**
 * Runs the agent with everything that surrounds it: files, signals and the status port on one side,
 * Envoy on the other. Emits each sign with the views before and after it. Completes when no Envoy
 * is left, or when the status port or another server cannot listen at the start.
 *
 * A part that fails is started again. If the core fails, or an exception is not caught, that is a
 * `bug`: the core is unsubscribed, its Envoys are drained, and the run ends with `bug-over`. Cold:
 * each subscription is an agent. Never errors.
 */
export function runAgent(
  config: AgentConfig,
  parts: Parts,
  outside: Outside = real,
): Observable<Fold<RunView, RunEvent>> {
  return defer(() => {
    const processes = keepProcesses(parts.proxy);
    return runCore(config, { ...parts, processes }, outside).pipe(
      finalize(() => processes.release()),
    );
  });
}

/** The time from a change to the early check, if no other change comes. In ms. */
const quiet = 500;

interface RunParts extends Omit<Parts, 'proxy'> {
  readonly processes: ProcessKeeper;
}

/** The parameters of a run. */
interface Run {
  readonly config: AgentConfig;
  readonly parts: RunParts;
  readonly outside: Outside;
  readonly timing: Timing;
  /** The signals that end the agent. */
  readonly ending: readonly NodeJS.Signals[];
  /** Exceptions that nobody has caught. */
  readonly uncaught$: Observable<RunSign>;
  readonly random: () => number;
}

/** The requests to the agent, and the current view. */
interface Streams {
  readonly requests$: Observable<StatusEvent | PartFailed>;
  readonly view$: Observable<RunView>;
}

function runCore(
  config: AgentConfig,
  parts: RunParts,
  outside: Outside,
): Observable<Fold<RunView, RunEvent>> {
  const run: Run = {
    config,
    parts,
    outside,
    timing: {
      ...fixedTiming,
      parentShutdown: config.parentShutdownDuration,
      drainMinimum: config.drainMinimum,
      drainCap: config.drainCap,
    },
    ending: ['SIGTERM', 'SIGINT', ...(parts.terminal ? ['SIGHUP' as const] : [])],
    uncaught$: outside.uncaught().pipe(map(uncaughtSign)),
    random: () => outside.random(),
  };
  return feedback(firstView(parts.startConfig, parts.startedAt), runStep, (view$) =>
    merge(run.uncaught$, served(run, view$)).pipe(
      catchError((error: unknown) => of(bugOf(error))),
      afterBug(view$, { keepEnvoy: config.keepEnvoy, takeDown$: takeDown(run) }),
      timestamp(),
      map(({ value: sign, timestamp: time }): RunEvent => ({ sign, at: time })),
      takeWhile(({ sign }) => !isEnd(sign), true),
    ),
  );
}

/**
 * Runs the status port; once it listens, the servers that Envoy needs; once they listen, the agent.
 */
function served(run: Run, view$: Observable<RunView>): Observable<RunSign> {
  const { config, parts, outside, random } = run;
  const status$ = defer(() => outside.serve(config, view$, parts)).pipe(
    asServer('status', { listening: 'listening', failed: 'failed' }, random),
  );
  const validConfig$ = view$.pipe(
    map(({ validConfig }) => validConfig),
    distinctUntilChanged(),
  );
  return merge(status$, outside.requests()).pipe(
    connect((requests$: Observable<StatusEvent | PartFailed>): Observable<RunSign> => {
      // If a server breaks and listens again later, the agent is not started a second time.
      const servers$ = requests$.pipe(
        ofType('listening'),
        exhaustMap(() => parts.servers$(validConfig$)),
      );
      const life$ = servers$.pipe(
        connect((shared$) =>
          merge(
            shared$,
            shared$.pipe(
              ofType('servers-listening'),
              exhaustMap(() => life(run, { requests$, view$ })),
            ),
          ),
        ),
      );
      return merge(requests$, life$);
    }),
  );
}

/** Merges the signs of the sources, the transitions of the agent, and the signs of its Envoy. */
function life(run: Run, streams: Streams): Observable<RunSign> {
  const { config, parts, random } = run;
  const { view$ } = streams;
  return merge(
    // The sources come first, so that they are subscribed from the start, and once.
    besideOf(run).changes$.pipe(filter(isStatus), asPart('sources', random)),
    configSigns(run, streams).pipe(
      connect((signs$) =>
        merge(
          signs$.pipe(filter(isSourceSign)),
          ahead(run, signs$),
          transitions(run, signs$, streams),
        ),
      ),
    ),
    servingEnvoy(config, { admin: parts.admin, binary: parts.identity.binary, random }, view$),
  );
}

function besideOf({ parts }: Run): ContributingSource {
  return parts.beside ?? noSource;
}

/** Emits the files and sources that the agent waits for, and then the signs of all sources. */
function configSigns(run: Run, { requests$ }: Streams): Observable<ConfigSign> {
  const { config, parts, outside, random } = run;
  const source = hashed(composeSources(outside.files(watchedFiles(config)), parts.shape));
  const awaited$ = outside.missing(config.awaited.map((path) => resolve(path)));
  const orders$ = merge(
    outside.signals(parts.terminal ? [] : ['SIGHUP']),
    requests$.pipe(
      ofType('restart-requested'),
      map(({ by }) => by),
    ),
  );
  const delays = { minDelay: config.minDelay, quiet, random };
  const config$ = orders$.pipe(
    connect((shared$) =>
      concat(
        awaited$.pipe(map(filesAwaited), takeUntil(shared$)),
        awaitedSources(besideOf(run), config).pipe(map(filesAwaited)),
        sourceSigns(source, delays, shared$).pipe(map(toSign)),
      ),
    ),
    asPart('sources', random),
  );
  return config$;
}

/** Runs the slow part of a check early, while the window of the changes is still open. */
function ahead({ parts }: Run, signs$: Observable<ConfigSign>): Observable<never> {
  const { proxy } = parts.processes;
  return signs$.pipe(
    ofType('foreseen'),
    switchMap(({ reading }) => proxy.checkAhead?.(toEpochReading(reading)) ?? EMPTY),
  );
}

/**
 * Runs the core. If it errors, that becomes a sign, so that everything around it goes on while its
 * Envoys are drained.
 */
function transitions(
  { config, parts, outside, timing, ending, uncaught$, random }: Run,
  signs$: Observable<ConfigSign>,
  { requests$, view$ }: Streams,
): Observable<RunSign> {
  const quit$ = requests$.pipe(ofType('quit-requested'));
  return agent(
    {
      adopted$: of(parts.adopted).pipe(filter(({ length }) => length > 0)),
      config$: signs$.pipe(
        map(toConfigEvent),
        filter((event) => event !== undefined),
      ),
      restart$: signs$.pipe(
        ofType('read'),
        filter(isOrdered),
        map(({ orderedBy, reading }) => ({ by: orderedBy, reading: toEpochReading(reading) })),
      ),
      resources$: view$.pipe(
        map(({ xds }) => missingResources(xds)),
        startWith(''),
        distinctUntilChanged(),
        skip(1),
      ),
      drain$: requests$.pipe(ofType('drain-requested')),
      reopen$: outside.signals(['SIGUSR1']),
      leave$: outside.signals(config.keepEnvoy ? ending : []),
      terminate$: merge(
        outside.signals(config.keepEnvoy ? [] : ending),
        quit$.pipe(map(() => '/quitquitquit')),
      ),
    },
    { onCrash: config.envoyRestartPolicy, budget: config.envoyRestartBudget },
    { proxy: parts.processes.proxy, timing, random },
  ).pipe(
    map((transition: AgentTransition): RunSign => ({ type: 'transition', transition })),
    catchError((error: unknown) => of(bugOf(error))),
    takeUntil(uncaught$.pipe(ofType('bug'))),
  );
}

/** Drains the remaining Envoys, without the core. */
function takeDown({ parts, outside, ending, timing }: Run) {
  return (sign$: Observable<RunSign>, terminations: number): Observable<never> => {
    const terminate$ = merge(outside.signals(ending), sign$.pipe(ofType('quit-requested')));
    return lastDrain(parts.processes, { terminate$, terminations }, timing);
  };
}

/** Returns whether a sign of a source is about its state, not about a change. */
function isStatus(
  sign: SourceChange,
): sign is Extract<SourceChange, { type: 'source-read' | 'source-unreadable' | 'watch-failed' }> {
  return sign.type !== 'ready' && sign.type !== 'changed';
}

/** Returns whether the run is over: the agent stopped, or a server that it needs cannot listen. */
function isEnd(sign: RunSign): boolean {
  if (sign.type === 'transition') return sign.transition.state.phase === 'stopped';
  return sign.type === 'failed' || sign.type === 'servers-failed' || sign.type === 'bug-over';
}

/** Gives a source hashes of a fixed length, so that the log can show their first characters. */
function hashed<Config>({ changes$, reading$ }: ConfigSource<Config>): ConfigSource<Config> {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  return {
    changes$,
    reading$: reading$.pipe(map((reading) => ({ ...reading, hash: sha256(reading.hash) }))),
  };
}
