import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { adminClient } from '../admin/admin-client.ts';
import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../config/log-options.ts';
import { envoyLogFormat } from '../log/envoy-lines.ts';
import type { LogLine } from '../log/log-line.ts';
import { openLog } from '../log/open-log.ts';
import { nodeString } from '../node/node-id.ts';
import { platform } from '../node/platform.ts';
import type { Fold } from '../operators/feedback.ts';
import { envoyProxy } from '../proxy/envoy-proxy.ts';
import { limits, workerThreads } from '../proxy/limits.ts';
import { meetingPlaces } from '../proxy/meeting-places.ts';
import { tellOf } from '../run/agents-here.ts';
import { besideEnvoy } from '../run/beside-envoy.ts';
import { checkCustomConfig, checkedConfig, knownOf } from '../run/check-config.ts';
import { effectiveConfig, readConfig } from '../run/effective-config.ts';
import { allOf, attempt, Fatal } from '../run/exit.ts';
import { keepLog } from '../run/keep-log.ts';
import { makeSources } from '../run/make-sources.ts';
import { differingValues } from '../run/differing-values.ts';
import { presentConfig } from '../run/present-config.ts';
import { envoyBinary, findTools, holdFolder } from '../run/prepare.ts';
import { runExit } from '../run/program-exit.ts';
import { profileToken } from '../run/profile-token.ts';
import { runAgent } from '../run/run-agent.ts';
import { shapeSource } from '../run/shape-source.ts';
import { findDetachTools, takeOver } from '../run/take-over.ts';
import type { RunEvent, View } from '../run/view.ts';
import { version } from '../run/version.ts';

/**
 * `pilot-agent proxy`: runs the agent until it has ended as it was asked to. Rejects with a
 * {@link Fatal} for any other end.
 *
 * @param given the flags that were given, by name
 * @param leftover the arguments that no flag took
 * @param logFlags the flags about logging that were given
 */
export async function proxy(given: GivenFlags, leftover: readonly string[], logFlags: GivenLogFlags): Promise<void> {
  const { pid } = process;
  const line = { given, leftover, logFlags };
  const resolved = await readConfig(line);
  const { config, isCertain } = knownOf(resolved);
  const { configPath, node, role, statusPort, proxyAdminPort, healthPort } = config;
  const here = { pid, version, configPath: resolve(configPath), statusPort, proxyAdminPort, healthPort };
  const [{ plan, sources, warnings, xds }, , binary, oddities, agentLog, detachTools] = await allOf([
    () => checkedConfig(resolved),
    () => checkCustomConfig(resolved),
    () => (isCertain('binaryPath') ? envoyBinary(config.binaryPath) : ''),
    () => (isCertain('configPath') ? holdFolder(configPath, version, { agent: here }) : []),
    () => attempt(() => openLog(config.logging), '--log_target'),
    () => (config.keepEnvoy ? findDetachTools(config.searchPath) : undefined),
  ]);
  const { sds, rotation, running } = plan;
  const xdsSocket = xds?.socket;
  const log = (line: LogLine) => agentLog.write({ component: 'agent', ...line });
  log({
    level: 'info',
    event: 'agent.started',
    msg: 'pilot-agent',
    version,
    node: process.version,
    pid,
    role,
    id: node.id,
    envoy: binary,
  });
  const shown = presentConfig({ config, sources });
  const values = differingValues(shown, config.node.addresses);
  if (values !== '') log({ level: 'info', event: 'config.given', msg: 'values that differ from their defaults', values });
  if (config.logging.level === 'debug') log({ level: 'debug', event: 'config.effective', msg: 'the configuration', config: shown });
  const byPush = { event: 'rotation.by_push', msg: 'a changed certificate is pushed to Envoy' } as const;
  const byRestart = { event: 'rotation.by_restart', msg: 'a changed certificate restarts Envoy' } as const;
  log({ level: 'info', ...(rotation.way === 'sds' ? byPush : byRestart), because: rotation.because });
  for (const warning of [...warnings, ...oddities, ...plan.warnings])
    log({ level: 'warn', event: 'config.warning', msg: 'configuration warning', warning });
  tellOf(here);
  const tools = findTools(config.searchPath, pid, log);

  const folder = resolve(configPath);
  const addressFile = `${folder}/envoy-admin-address`;
  const detached = await takeOver({ tools: detachTools, folder, addressFile, log });
  const admin = adminClient(addressFile, config.proxyAdminPort);
  const platform$ = platform(config);
  const beside = makeSources(running.sources);
  const shape = shapeSource({
    beside,
    initial: { config, sources, warnings },
    reread: () => effectiveConfig(line),
    platform$,
    sds,
    xdsSocket,
  });
  const envoy = envoyProxy({
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
    pairs: running.certificates,
    drainsAll: role === 'router',
    tools,
    detached,
    places: meetingPlaces(folder),
    onLine: ({ level, component, message }, epoch) =>
      agentLog.write({ level, event: 'envoy.log', component: `envoy.${component}`, epoch, msg: message }),
  });
  const life$ = runAgent(running, {
    servers$: (known$) => besideEnvoy({ secrets: plan, xds, known$ }, config, { platform$, trustDomain: plan.config.trustDomain }),
    proxy: envoy,
    adopted: detached?.adopted ?? [],
    admin,
    shape,
    beside,
    terminal: isatty(1),
    known: { config, sources },
    status: {
      probes: config.probes,
      targets: config.metricsTargets,
      profileToken: config.profiling ? profileToken(folder) : undefined,
      version: { version, node: process.version },
    },
  });

  const { value: end, state } = await new Promise<Fold<View, RunEvent>>((done, fail) => {
    let last: Fold<View, RunEvent> | undefined;
    life$.subscribe({
      next: (step) => {
        last = step;
        keepLog(step, agentLog);
      },
      error: fail,
      complete: () => (last === undefined ? fail(new Error('the run has ended before it began')) : done(last)),
    });
  }).finally(() => agentLog.close());

  const { code, why } = runExit(end.sign, state, config);
  if (why !== undefined) throw new Fatal(why, code);
}
