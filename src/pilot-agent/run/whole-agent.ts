// Why: docs/decisions/035-workers-follow-the-cpu-limit.md
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { asyncScheduler, lastValueFrom, type Observable, ReplaySubject, tap } from 'rxjs';
import { type AdminClient, adminClient } from '../../proxy/admin-client.ts';
import type { AgentState } from '../../epochs/model.ts';
import type { AdoptedEpoch, Proxy } from '../../epochs/ports.ts';
import { envoyLogFormat, toBeShown } from '../../proxy/envoy-lines.ts';
import { logFunction } from '../../shared/log/log-function.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import { openLog } from '../../shared/log/open-log.ts';
import { envoyLogLevels } from '../config/envoy-log-levels.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { askedOf } from '../config/application.ts';
import { nodeString } from '../bootstrap/node-id.ts';
import { platform } from '../bootstrap/platform.ts';
import type { Fold } from '../../operators/feedback.ts';
import { envoyProxy } from '../../proxy/envoy-proxy.ts';
import { limits, workerThreads } from '../../proxy/limits.ts';
import { restartAddresses } from '../../proxy/restart-addresses.ts';
import type { ContributingSource } from '../sources/contribution.ts';
import { setScrapeFlags } from '../status/scrape/scrape-flags.ts';
import { agentEnd, forgetEnd, type GoodEnd, keepEnd } from './end/agent-end.ts';
import { announceFolder } from './end/agents-here.ts';
import { besideEnvoy } from './beside-envoy.ts';
import {
  checkCustomConfig,
  checkedConfig,
  type CheckedConfig,
  usableConfig,
} from './check-config.ts';
import {
  type CommandLine,
  effectiveConfig,
  type ReadConfig,
  readConfig,
} from './start/effective-config.ts';
import { allOf, attempt, Fatal } from '../../shared/program/exit.ts';
import { findTools } from './start/find-tools.ts';
import { identityOf } from './status/identity.ts';
import { keepLog } from './keep-log.ts';
import { tapLog, type TappedLog } from './log-tap.ts';
import type { Outside } from './outside.ts';
import { envoyOrInstalled, holdFolder } from './start/hold-folder.ts';
import { makeSources } from './sources/make-sources.ts';
import { failureOf } from './state/part.ts';
import { profileToken } from './start/profile-token.ts';
import { runExit } from './end/program-exit.ts';
import { runAgent } from './run-agent.ts';
import { shapeSource } from './start/shape-source.ts';
import { sourceSecrets } from './sources/source-secrets.ts';
import { logStart } from './log-start.ts';
import { type DetachTools, findDetachTools, takeOver } from './start/take-over.ts';
import { version } from '../../shared/program/version.ts';
import type { RunEvent, RunView } from './state/view.ts';
import { whyUnready, type WhyUnready } from './status/why-unready.ts';

/** The parameters of an agent, as a program or as a part of another program. */
export interface WholeAgent {
  readonly line: CommandLine;
  readonly outside: Outside;
  /** Whether the agent may set V8 flags, which affect the whole process. */
  readonly process: 'own' | 'shared';
  /** `install`: if there is no Envoy, the pinned one is installed into the cache. */
  readonly envoy: 'find' | 'install';
  /** Sources beside those that the configuration names. */
  readonly sources: readonly ContributingSource[];
  /** Runs in the place of Envoy; undefined for Envoy. */
  readonly proxy?: Proxy | undefined;
  /** Replaces the log that the configuration names. */
  readonly log?: ((line: LogLine) => void) | undefined;
  /** When the agent was started: ms since 1970. */
  readonly startedAt: number;
  /** Also cancels an installation, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each state of the core. */
  readonly onState?: (state: AgentState) => void;
  /** Is called once the agent runs. `unready$` emits why it is not ready, on subscribe. */
  readonly onLife?: (unready$: WhyUnready['unready$']) => void;
}

/**
 * Functions that release what the agent has acquired, in the order of acquisition. Each receives
 * the end of the agent.
 */
type Cleanups = ((end?: GoodEnd | Fatal) => void)[];

/**
 * Runs an agent until it has ended as requested. Rejects with a {@link Fatal} for any other end.
 * Everything that it acquired, except its log files, is released before.
 */
export async function wholeAgent(agent: WholeAgent): Promise<void> {
  const cleanups: Cleanups = [];
  const release = (end?: GoodEnd | Fatal) => cleanups.splice(0).forEach((cleanup) => cleanup(end));
  const onExit = () => release();
  process.once('exit', onExit);
  try {
    release(await live(agent, cleanups));
  } catch (error) {
    release(
      agent.signal?.aborted === true && error === agent.signal.reason
        ? { askedBy: 'abort', leaves: false }
        : failureOf(error),
    );
    throw error;
  } finally {
    process.removeListener('exit', onExit);
  }
}

async function live(agent: WholeAgent, cleanups: Cleanups): Promise<GoodEnd> {
  const resolved = await readConfig(agent.line);
  const { config, isCertain } = usableConfig(resolved);
  const here = hereOf(config);
  const [checked, , binary, oddities, agentLog, detachTools] = await allOf([
    () => checkedConfig(resolved),
    () => checkCustomConfig(resolved),
    () =>
      agent.proxy === undefined && isCertain('binaryPath')
        ? envoyOrInstalled(config.binaryPath, agent)
        : '',
    () => (isCertain('configPath') ? hold(config.configPath, here, agent, cleanups) : []),
    () =>
      attempt(
        () =>
          tapLog(
            agent.log
              ? logFunction(agent.log, config.logging.level)
              : openLog(config.logging, 'agent'),
          ),
        '--log_target',
      ),
    () => (config.keepEnvoy ? findDetachTools(config.searchPath) : undefined),
  ]);
  const { passedOver } = resolved;
  logStart(checked, { binary, oddities, passedOver, agentLog });
  cleanups.push(announceFolder(here));

  const view$ = new ReplaySubject<RunView>(1);
  const life$ = await lifeOf({
    agent,
    checked,
    passedOver,
    binary,
    agentLog,
    detachTools,
    cleanups,
    view$,
  });
  const end = await endOf(
    life$.pipe(
      tap((step) => {
        view$.next(step.state);
        keepLog(step, agentLog);
        if (step.value.sign.type === 'transition')
          agent.onState?.(step.value.sign.transition.state);
      }),
    ),
  ).finally(() => agentLog.close());
  return goodEnd(end, config);
}

/** The agent as it describes itself to other agents of this machine. */
function hereOf({ configPath, statusPort, proxyAdminPort, healthPort }: AgentConfig) {
  return {
    pid: process.pid,
    version,
    configPath: resolve(configPath),
    statusPort,
    proxyAdminPort,
    healthPort,
  };
}

/** Holds the folder of the configuration. Resolves to warnings about the folder. */
async function hold(
  configPath: string,
  here: ReturnType<typeof hereOf>,
  { startedAt }: WholeAgent,
  cleanups: Cleanups,
): Promise<readonly string[]> {
  const { oddities, release } = await holdFolder(configPath, version, { agent: here });
  forgetEnd(configPath);
  cleanups.push((end) => {
    if (end !== undefined)
      keepEnd(here.configPath, agentEnd({ ...here, startedAt, at: asyncScheduler.now() }, end));
    release();
  });
  return oddities;
}

/** Runs an agent to its end, and resolves to its last event. */
async function endOf(life$: Observable<Fold<RunView, RunEvent>>): Promise<Fold<RunView, RunEvent>> {
  const end = await lastValueFrom(life$, { defaultValue: undefined });
  if (end === undefined) throw new Error('the run has ended before it began');
  return end;
}

/** Resolves to the end of an agent if it was asked to end; rejects with a {@link Fatal} if not. */
async function goodEnd(
  { value, state }: Fold<RunView, RunEvent>,
  config: AgentConfig,
): Promise<GoodEnd> {
  const { code, why, takenPort } = runExit(value.sign, state, config);
  if (why !== undefined)
    throw new Fatal(
      takenPort === undefined
        ? why
        : `${why}${(await import('../../shared/program/taken-port.ts')).takenBy(takenPort)}`,
      code,
    );
  return { askedBy: state.askedBy, leaves: state.agent.epochs.size > 0 };
}

interface Prepared {
  readonly agent: WholeAgent;
  readonly checked: CheckedConfig;
  readonly passedOver: ReadConfig['passedOver'];
  readonly binary: string;
  readonly agentLog: TappedLog;
  readonly detachTools: DetachTools | undefined;
  readonly cleanups: Cleanups;
  /** The views of the run, once it has begun. */
  readonly view$: Observable<RunView>;
}

/** Makes the agent for the given proxy, or for Envoy. */
async function lifeOf(prepared: Prepared): Promise<Observable<Fold<RunView, RunEvent>>> {
  const { agent, checked, passedOver, binary, agentLog, cleanups, view$ } = prepared;
  const { config, sources, warnings, plan, xds } = checked;
  const { running, sds } = plan;
  const folder = resolve(config.configPath);
  const addressFile = `${folder}/envoy-admin-address`;
  const admin = adminClient(addressFile, config.proxyAdminPort);
  const { proxy, adopted } =
    agent.proxy === undefined
      ? await envoyOf(prepared, admin, addressFile)
      : { proxy: agent.proxy, adopted: [] };
  const token = config.profiling ? profileToken(folder) : undefined;
  if (token !== undefined) cleanups.push(token.remove);
  const readyBy = agent.proxy === undefined ? 'envoy' : 'state';
  agent.onLife?.(
    whyUnready(view$, readyBy === 'envoy' ? admin : undefined, config.readinessTimeout).unready$,
  );
  const platform$ = platform(config);
  const beside = makeSources(running.sources, agent.sources, {
    url: config.httpProxy,
    except: config.noProxy,
  });
  const ofSources = sourceSecrets(beside, running.sources, agent.sources.length > 0);
  return runAgent(
    running,
    {
      beside,
      servers$: (validConfig$) =>
        besideEnvoy({ secrets: plan, xds, validConfig$: validConfig$, ofSources }, config, {
          platform$,
          trustDomain: plan.config.trustDomain,
        }),
      proxy,
      adopted,
      admin,
      readyBy,
      shape: shapeSource({
        beside,
        initial: { config, sources, warnings, passedOver },
        reread: () => effectiveConfig(agent.line),
        platform$,
        sds,
        xdsSocket: xds?.socket,
      }),
      terminal: isatty(1),
      startConfig: { config, sources },
      startedAt: agent.startedAt,
      identity: identityOf(config, binary),
      lines$: agentLog.lines$,
      status: {
        ...askedOf(config),
        profileToken: token?.token,
        beforeScrapes: agent.process === 'own' ? setScrapeFlags : () => undefined,
        version: { version, node: process.version },
      },
    },
    agent.outside,
  );
}

interface AdoptingProxy {
  readonly proxy: Proxy;
  readonly adopted: readonly AdoptedEpoch[];
}

/** Makes the proxy for Envoy, and adopts the Envoys that an earlier agent has left. */
async function envoyOf(
  prepared: Prepared,
  admin: AdminClient,
  addressFile: string,
): Promise<AdoptingProxy> {
  const { checked, binary, agentLog, detachTools } = prepared;
  const { config, plan } = checked;
  const { node, role } = config;
  const log = (line: LogLine) => agentLog.write({ component: 'agent', ...line });
  const folder = resolve(config.configPath);
  const isShown = toBeShown();
  const tools = findTools(config.searchPath, process.pid, log);
  const detached = await takeOver({ tools: detachTools, folder, addressFile, log });
  const proxy = envoyProxy({
    binary,
    args: {
      drainDuration: config.drainDuration,
      parentShutdownDuration: config.parentShutdownDuration,
      serviceCluster: config.serviceCluster,
      serviceNode: nodeString(role, node),
      ipv6: node.ipv6,
      logFormat: envoyLogFormat,
      ...envoyLogLevels(config),
      // A child with fewer workers than its parent would lose connections that wait at their
      // sockets.
      concurrency: workerThreads(config.concurrency, limits(config.cpuLimit)),
    },
    admin,
    addressFile,
    folder,
    pairs: plan.running.certificates,
    drainsAll: role === 'router',
    tools,
    detached,
    restartAddresses: restartAddresses(folder),
    explain: async (given, words) =>
      (await import('../envoy/explain-refusal.ts')).explainRefusal(given, words, binary),
    onLine: ({ level, component, message }, epoch) => {
      if (isShown(message))
        agentLog.write(
          line('envoy.log', { component: `envoy.${component}`, epoch }, level, message),
        );
    },
  });
  return { proxy, adopted: detached?.adopted ?? [] };
}
