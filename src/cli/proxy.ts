import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { BehaviorSubject, filter, map, merge, of, share, switchMap, takeWhile, tap, throttleTime } from 'rxjs';
import { adminClient } from '../admin/admin-client.ts';
import { agent, type AgentTransition } from '../agent/agent.ts';
import { initialState } from '../agent/initial-state.ts';
import { narrate } from '../agent/narrate.ts';
import { fixedTiming } from '../agent/timing.ts';
import type { FlagName } from '../config/flags.ts';
import { type AgentConfig, resolveConfig } from '../config/resolve-config.ts';
import { cacheDir } from '../envoy/cache-dir.ts';
import { findEnvoy } from '../envoy/find-envoy.ts';
import { findExecutable } from '../envoy/find-executable.ts';
import { pinnedEnvoy } from '../envoy/pinned-envoy.ts';
import { envoyLogFormat } from '../log/envoy-lines.ts';
import { openLog } from '../log/open-log.ts';
import { ofType } from '../operators/of-type.ts';
import { envoyProxy } from '../proxy/envoy-proxy.ts';
import { freeBaseId } from '../proxy/free-base-id.ts';
import { statusServer, type StatusEvent } from '../status/status-server.ts';
import { unready } from '../status/unready.ts';
import { composeSources } from '../streams/compose-sources.ts';
import { configHash } from '../streams/config-hash.ts';
import { fileSource } from '../streams/file-source.ts';
import { signals } from '../streams/signals.ts';
import { exitCodes } from './exit-codes.ts';
import { exitOf } from './exit-of.ts';
import { Fatal } from './fatal.ts';
import { prepareFolder } from './prepare-folder.ts';
import { version } from './version.ts';

/** `pilot-agent proxy`: runs the agent until it has ended as it was asked to. Rejects with a {@link Fatal} for any other end. */
export async function proxy(given: Readonly<Partial<Record<FlagName, string>>>, leftover: readonly string[]): Promise<void> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  );
  const resolved = resolveConfig(given, leftover, process.env, addresses);
  if (!resolved.ok) {
    throw new Fatal(resolved.problems.map(({ place, text }) => `${place}: ${text}`).join('; '), exitCodes.usage);
  }
  const { config, warnings } = resolved;
  const found = findEnvoy({
    binaryPath: config.binaryPath,
    env: process.env,
    cacheDir: cacheDir(process.env),
    version: pinnedEnvoy.version,
  });
  if (!found.ok) throw new Fatal(found.reason, exitCodes.unavailable);
  attempt(() => {
    accessSync(config.customConfigFile, constants.R_OK);
    if (statSync(config.customConfigFile).isDirectory()) throw new Error('it is a directory');
  }, `--customConfigFile ${config.customConfigFile} cannot be read`);
  attempt(() => prepareFolder(config.configPath), `--configPath ${config.configPath} cannot be written`);

  const terminal = isatty(1);
  const output = await openLog(1, 'info');
  const { logger } = output;
  const log = logger.child({ component: 'agent' });
  const watcherLog = logger.child({ component: 'watcher' });
  const envoyLog = logger.child({}, { level: 'trace' }); // --proxyLogLevel has chosen
  const tools = { mkfifo: inPath('mkfifo'), setpriv: inPath('setpriv'), sh: inPath('sh') };
  log.info({ version, node: process.version, pid: process.pid, role: config.role, id: config.node.id, envoy: found.path }, 'pilot-agent');
  for (const warning of warnings) log.warn(warning);
  if (tools.setpriv === undefined) log.warn('setpriv is not in PATH: an Envoy in its first 100 ms survives a SIGKILL of the agent');
  if (tools.mkfifo === undefined) log.warn("mkfifo is not in PATH: Envoy's log lines are passed on as they are");

  const folder = resolve(config.configPath);
  const addressFile = `${folder}/envoy-admin-address`;
  const admin = adminClient(addressFile, config.proxyAdminPort);
  const envoy = envoyProxy({
    binary: found.path,
    args: {
      config: config.customConfigFile,
      baseId: freeBaseId(readFileSync('/proc/net/unix', 'utf8'), readdirSync('/dev/shm'), Math.random),
      drainDuration: config.drainDuration,
      parentShutdownDuration: config.parentShutdownDuration,
      serviceCluster: config.serviceCluster,
      serviceNode: [config.role, config.node.ip, config.node.id, config.node.domain].join('~'),
      ipv6: config.node.ipv6,
      logFormat: envoyLogFormat,
      logLevel: config.proxyLogLevel,
      componentLogLevel: config.proxyComponentLogLevel,
      concurrency: config.concurrency,
    },
    admin,
    addressFile,
    folder,
    pairs: config.certificates,
    drainsAll: config.role === 'router',
    tools,
    onLine: ({ level, component, message }, epoch) => envoyLog[level]({ component: `envoy.${component}`, epoch }, message),
  });

  const state$ = new BehaviorSubject(initialState);
  const source = composeSources(fileSource([...watchedFiles(config)]));
  const changes$ = source.changes$.pipe(share());
  let heard = false;
  const hash$ = source.hash$.pipe(
    tap((hash) => {
      if (heard && hash === state$.value.wanted) watcherLog.info('the files say what they said before');
      heard = false;
    }),
  );
  const status$ = (
    config.statusPort === 0 ? of<StatusEvent>({ type: 'listening' }) : statusServer(config.statusPort, unready(state$, admin))
  ).pipe(share());
  const watching$ = merge(
    changes$.pipe(
      ofType('changed'),
      throttleTime(config.minDelay),
      tap(({ path }) => {
        heard = true;
        watcherLog.info({ path, delayMs: config.minDelay }, 'change seen: the files are read after the window');
      }),
    ),
    changes$.pipe(
      ofType('watch-failed'),
      tap(({ path, reason }) => watcherLog.warn({ path, reason }, 'watching failed, and is tried again')),
    ),
  );
  const life$ = agent(
    {
      hash$: configHash({ changes$, hash$ }, { minDelay: config.minDelay }),
      restart$: signals(terminal ? [] : ['SIGHUP']).pipe(switchMap(() => hash$)),
      reopen$: signals(['SIGUSR1']),
      terminate$: merge(signals(['SIGTERM', 'SIGINT', ...(terminal ? (['SIGHUP'] as const) : [])]), status$.pipe(ofType('quit-requested'), map(() => '/quitquitquit'))), // prettier-ignore
    },
    { onCrash: config.envoyRestartPolicy, budget: config.envoyRestartBudget },
    {
      proxy: envoy,
      timing: {
        ...fixedTiming,
        parentShutdown: config.parentShutdownDuration,
        drainMinimum: config.drainMinimum,
        drainCap: config.drainCap,
      },
      random: Math.random,
    },
  );
  const run$ = status$.pipe(
    filter(({ type }) => type !== 'quit-requested'),
    switchMap((status) => {
      if (status.type === 'failed') throw new Fatal(`--statusPort ${config.statusPort}: ${status.reason}`, exitCodes.unavailable);
      return merge(life$, watching$);
    }),
    filter((value): value is AgentTransition => 'event' in value),
    takeWhile(({ state }) => state.phase !== 'stopped', true),
  );

  await new Promise<void>((done, fail) =>
    run$.subscribe({
      next: (transition) => {
        state$.next(transition.state);
        for (const { level, msg, ...fields } of narrate(transition)) log[level](fields, msg);
      },
      error: fail,
      complete: done,
    }),
  ).finally(() => output.close());

  const { outcome } = state$.value;
  const { code, why } = exitOf(outcome ?? { kind: 'asked' });
  if (why !== undefined) throw new Fatal(outcome?.kind === 'refused' ? `--customConfigFile ${config.customConfigFile}: ${why}` : why, code);
}

function watchedFiles(config: AgentConfig): readonly string[] {
  return [...config.certificates.flatMap(({ chain, key, root }) => [chain, key, root]), config.customConfigFile].map((path) =>
    resolve(path),
  );
}

function inPath(name: string): string | undefined {
  return findExecutable(name, process.env['PATH']);
}

function attempt(action: () => void, what: string): void {
  try {
    action();
  } catch (error) {
    throw new Fatal(`${what}: ${(error as Error).message}`, exitCodes.config);
  }
}
