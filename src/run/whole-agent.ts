import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { Observable } from 'rxjs';
import { type AdminClient, adminClient } from '../admin/admin-client.ts';
import type { AgentState } from '../agent/model.ts';
import type { AdoptedEpoch, Proxy } from '../agent/ports.ts';
import { envoyLogFormat, toBeShown } from '../log/envoy-lines.ts';
import { logFunction } from '../log/log-function.ts';
import type { LogLine } from '../log/log-line.ts';
import { openLog } from '../log/open-log.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { nodeString } from '../node/node-id.ts';
import { platform } from '../node/platform.ts';
import type { Fold } from '../operators/feedback.ts';
import { envoyProxy } from '../proxy/envoy-proxy.ts';
import { limits, workerThreads } from '../proxy/limits.ts';
import { meetingPlaces } from '../proxy/meeting-places.ts';
import type { ContributingSource } from '../sources/contribution.ts';
import { tellOf } from './agents-here.ts';
import { besideEnvoy } from './beside-envoy.ts';
import { checkCustomConfig, checkedConfig, type CheckedConfig, knownOf } from './check-config.ts';
import { type CommandLine, effectiveConfig, readConfig } from './effective-config.ts';
import { allOf, attempt, Fatal } from './exit.ts';
import { findTools } from './find-tools.ts';
import type { Identity } from './agent-report.ts';
import { keepLog } from './keep-log.ts';
import { tapLog, type TappedLog } from './log-tap.ts';
import type { Outside } from './outside.ts';
import { envoyOrInstalled, holdFolder } from './prepare.ts';
import { makeSources } from './make-sources.ts';
import { profileToken } from './profile-token.ts';
import { runExit } from './program-exit.ts';
import { runAgent } from './run-agent.ts';
import { shapeSource } from './shape-source.ts';
import { sourceSecrets } from './source-secrets.ts';
import { tellStart } from './tell-start.ts';
import { type DetachTools, findDetachTools, takeOver } from './take-over.ts';
import { version } from './version.ts';
import type { RunEvent, View } from './view.ts';

/** An agent as a program, or somebody else's program, has it. */
export interface WholeAgent {
  readonly line: CommandLine;
  readonly outside: Outside;
  /** `install`: where there is no Envoy, the pinned one is put into the cache. */
  readonly envoy: 'find' | 'install';
  /** Beside those that the configuration asks for. */
  readonly sources: readonly ContributingSource[];
  /** In the place of Envoy; undefined for Envoy. */
  readonly proxy?: Proxy | undefined;
  /** In the place of the log that the configuration asks for. */
  readonly log?: ((line: LogLine) => void) | undefined;
  /** When it was started: ms since 1970. */
  readonly startedAt: number;
  /** Ends an installation: then it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Is given each state of the core. */
  readonly onState?: (state: AgentState) => void;
}

/** What has to be let go of at the end, in the order in which it was taken. */
type Held = (() => void)[];

/**
 * Runs an agent until it has ended as it was asked to. Rejects with a {@link Fatal} for any other
 * end; what it has taken, but for its log files, is let go of before.
 */
export async function wholeAgent(agent: WholeAgent): Promise<void> {
  const held: Held = [];
  const release = () => held.splice(0).forEach((one) => one());
  process.once('exit', release);
  try {
    await live(agent, held);
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

async function live(agent: WholeAgent, held: Held): Promise<void> {
  const { line, onState } = agent;
  const resolved = await readConfig(line);
  const { config, isCertain } = knownOf(resolved);
  const { configPath, statusPort, proxyAdminPort, healthPort } = config;
  const here = { pid: process.pid, version, configPath: resolve(configPath), statusPort, proxyAdminPort, healthPort };
  const hold = async () => {
    const { oddities, release } = await holdFolder(configPath, version, { agent: here });
    held.push(release);
    return oddities;
  };
  const [checked, , binary, oddities, agentLog, detachTools] = await allOf([
    () => checkedConfig(resolved),
    () => checkCustomConfig(resolved),
    () => (agent.proxy === undefined && isCertain('binaryPath') ? envoyOrInstalled(config.binaryPath, agent) : ''),
    () => (isCertain('configPath') ? hold() : []),
    () => attempt(() => tapLog(agent.log ? logFunction(agent.log, config.logging.level) : openLog(config.logging)), '--log_target'),
    () => (config.keepEnvoy ? findDetachTools(config.searchPath) : undefined),
  ]);
  tellStart(checked, { binary, oddities, agentLog });
  held.push(tellOf(here));

  const life$ = await lifeOf({ agent, checked, binary, agentLog, detachTools, held });
  const { value: end, state } = await new Promise<Fold<View, RunEvent>>((done, fail) => {
    let last: Fold<View, RunEvent> | undefined;
    life$.subscribe({
      next: (step) => {
        last = step;
        keepLog(step, agentLog);
        if (step.value.sign.type === 'transition') onState?.(step.value.sign.transition.state);
      },
      error: fail,
      complete: () => (last === undefined ? fail(new Error('the run has ended before it began')) : done(last)),
    });
  }).finally(() => agentLog.close());

  const { code, why, taken } = runExit(end.sign, state, config);
  if (why !== undefined) throw new Fatal(taken === undefined ? why : `${why}${(await import('./taken-port.ts')).takenBy(taken)}`, code);
}

interface Prepared {
  readonly agent: WholeAgent;
  readonly checked: CheckedConfig;
  readonly binary: string;
  readonly agentLog: TappedLog;
  readonly detachTools: DetachTools | undefined;
  readonly held: Held;
}

/** The agent over the proxy that it is given, or over Envoy. */
async function lifeOf(prepared: Prepared): Promise<Observable<Fold<View, RunEvent>>> {
  const { agent, checked, binary, agentLog, held } = prepared;
  const { config, sources, warnings, plan, xds } = checked;
  const { running, sds } = plan;
  const folder = resolve(config.configPath);
  const addressFile = `${folder}/envoy-admin-address`;
  const admin = adminClient(addressFile, config.proxyAdminPort);
  const { proxy, adopted } = agent.proxy === undefined ? await envoyOf(prepared, admin, addressFile) : { proxy: agent.proxy, adopted: [] };
  const token = config.profiling ? profileToken(folder) : undefined;
  if (token !== undefined) held.push(token.remove);
  const platform$ = platform(config);
  const beside = makeSources(running.sources, agent.sources);
  const ofSources = sourceSecrets(beside, running.sources, agent.sources.length > 0);
  return runAgent(
    running,
    {
      beside,
      servers$: (known$) =>
        besideEnvoy({ secrets: plan, xds, known$, ofSources }, config, { platform$, trustDomain: plan.config.trustDomain }),
      proxy,
      adopted,
      admin,
      shape: shapeSource({
        beside,
        initial: { config, sources, warnings },
        reread: () => effectiveConfig(agent.line),
        platform$,
        sds,
        xdsSocket: xds?.socket,
      }),
      terminal: isatty(1),
      known: { config, sources },
      startedAt: agent.startedAt,
      identity: identityOf(config, binary),
      lines$: agentLog.lines$,
      status: {
        probes: config.probes,
        targets: config.metricsTargets,
        profileToken: token?.token,
        version: { version, node: process.version },
      },
    },
    agent.outside,
  );
}

function identityOf({ role, node, configPath, statusPort, proxyAdminPort }: AgentConfig, binary: string): Identity {
  const { version: ofNode, pid } = process;
  const adminPort = proxyAdminPort;
  return {
    version,
    node: ofNode,
    pid,
    role,
    nodeId: nodeString(role, node),
    configPath: resolve(configPath),
    statusPort,
    adminPort,
    binary,
  };
}

interface AdoptingProxy {
  readonly proxy: Proxy;
  readonly adopted: readonly AdoptedEpoch[];
}

/** Envoy, and what an earlier agent has left of it. */
async function envoyOf(prepared: Prepared, admin: AdminClient, addressFile: string): Promise<AdoptingProxy> {
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
      logLevel: config.proxyLogLevel,
      componentLogLevel: config.proxyComponentLogLevel,
      // Fewer in a child than in its parent would lose what waits at the sockets of the others.
      concurrency: workerThreads(config.concurrency, limits(config.cpuLimit)),
    },
    admin,
    addressFile,
    folder,
    pairs: plan.running.certificates,
    drainsAll: role === 'router',
    tools,
    detached,
    places: meetingPlaces(folder),
    explain: async (given, words) => (await import('../refusal/explain-refusal.ts')).explainRefusal(given, words, binary),
    onLine: ({ level, component, message }, epoch) => {
      if (isShown(message)) agentLog.write({ level, event: 'envoy.log', component: `envoy.${component}`, epoch, msg: message });
    },
  });
  return { proxy, adopted: detached?.adopted ?? [] };
}
