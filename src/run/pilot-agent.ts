import { asyncScheduler, type Observable, ReplaySubject } from 'rxjs';
import { type AgentState, initialState } from '../agent/model.ts';
import type { Proxy } from '../agent/ports.ts';
import { type FlagName, flags } from '../config/flags.ts';
import { type LogFlagName, logFlags } from '../config/log-flags.ts';
import type { LogLine } from '../log/log-line.ts';
import type { ContributingSource } from '../sources/contribution.ts';
import type { CommandLine } from './effective-config.ts';
import { exitCodes, Fatal } from './exit.ts';
import { troubleOf } from './part.ts';

/** A value of a flag, as text or as what the text would say: a duration is a text, as `45s`. */
export type FlagValue = string | number | boolean;

/** The flags of `proxy` by name, and its role; a flag that may be repeated has all values. */
export type AgentSettings = Readonly<Partial<Record<FlagName | LogFlagName, FlagValue | readonly string[]>>> & {
  /** `sidecar` if left out. */
  readonly role?: 'sidecar' | 'router';
};

export interface PilotAgentOptions {
  /** As the command line of `pilot-agent proxy`. */
  readonly config?: AgentSettings;
  /** The variables that the agent reads, `PATH` among them; `process.env` if left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** Sources of configuration beside those that `config` asks for. */
  readonly sources?: readonly ContributingSource[];
  /** What runs in the place of Envoy. Nothing is looked for, checked or cleared for Envoy then. */
  readonly proxy?: Proxy;
  /**
   * Is given each line of the log from `log_output_level` on. If left out, the log goes where
   * `config` says: to the output stream of the process, as that of the program does.
   */
  readonly log?: (line: LogLine) => void;
  /**
   * Where there is no Envoy: `find` (the default) says so, `install` puts one into the user's
   * cache. It needs Python 3 with pip, and the network.
   */
  readonly envoy?: 'find' | 'install';
  /**
   * The agent obeys signals to the process as the program does (SIGTERM, SIGINT, SIGHUP, SIGUSR1),
   * and takes its Envoys down after an exception that nobody has caught, which ends no process
   * then. `false` if left out: the process is left alone.
   */
  readonly signals?: boolean;
}

export interface PilotAgent {
  /**
   * Emits the state that the agent is in, and each one after it; the last one to who comes late.
   * Hot; completes when the agent has ended, and never errors: `run` says how it has ended.
   */
  readonly state$: Observable<AgentState>;
  /**
   * Starts the agent, once, and resolves when it has ended as it was asked to, with no Envoy left:
   * by `signal`, which drains it first, by `POST /quitquitquit`, or because Envoy has ended by
   * itself, and cleanly. Rejects with an `AgentFailure` for any other end.
   */
  run(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Makes an agent that owns the life of one Envoy, as a part of a program: what `pilot-agent proxy`
 * does, without a process of its own. It never ends the process. Nothing happens before `run`, and
 * what an agent needs is loaded then.
 *
 * Agents of one process need a `configPath` and ports of their own, as those of two processes do.
 */
export function pilotAgent(options: PilotAgentOptions = {}): PilotAgent {
  const state$ = new ReplaySubject<AgentState>(1);
  state$.next(initialState);
  let isUsed = false;
  return {
    state$: state$.asObservable(),
    run: async ({ signal } = {}) => {
      if (isUsed) throw new Fatal('this agent has been run: make another one by pilotAgent()', exitCodes.usage);
      isUsed = true;
      try {
        if (signal?.aborted !== true) await live(options, signal, (state) => state$.next(state));
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw failureOf(error);
      } finally {
        state$.complete();
      }
    },
  };
}

async function live(options: PilotAgentOptions, signal: AbortSignal | undefined, onState: (state: AgentState) => void): Promise<void> {
  const { config = {}, env = process.env, sources = [], proxy, log, envoy = 'find', signals = false } = options;
  const [{ wholeAgent }, { outsideOf }] = await Promise.all([import('./whole-agent.ts'), import('./outside.ts')]);
  const outside = outsideOf({ signal, obeys: signals });
  await wholeAgent({ line: lineOf(config, env), outside, envoy, sources, proxy, log, signal, onState, startedAt: asyncScheduler.now() });
}

/** The command line that says the same. What is no flag is left over, and refused or warned of. */
function lineOf({ role = 'sidecar', ...settings }: AgentSettings, env: NodeJS.ProcessEnv): CommandLine {
  const given = Object.entries(settings as Readonly<Record<string, FlagValue | readonly string[] | undefined>>).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const of = (table: object) =>
    Object.fromEntries(
      given.flatMap(([name, value]) => {
        if (!Object.hasOwn(table, name)) return [];
        const all = [value].flat().map(String);
        return [[name, Array.isArray(value) || 'repeated' in table[name as keyof typeof table] ? all : all[0]]];
      }),
    );
  const unknown = given.flatMap(([name]) => (Object.hasOwn(flags, name) || Object.hasOwn(logFlags, name) ? [] : [`--${name}=`]));
  return { given: of(flags), logFlags: of(logFlags), leftover: [role, ...unknown], env };
}

function failureOf(error: unknown): Fatal {
  if (error instanceof Fatal) return error;
  return new Fatal(`this is a bug: ${troubleOf(error).reason}`, exitCodes.software, { cause: error });
}
