import { asyncScheduler, merge } from 'rxjs';
import { findAccess, isAccessNamed } from '../../shared/kube/find-access.ts';
import { type GivenLogFlags, logOptions } from '../../shared/log/log-options.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import { openLog } from '../../shared/log/open-log.ts';
import { dumpFilter, dumpNoMemory } from '../../shared/program/dump-no-memory.ts';
import { attempt, exitCodes, Fatal } from '../../shared/program/exit.ts';
import { takenBy } from '../../shared/program/taken-port.ts';
import { signals } from '../../streams/process-events.ts';
import {
  contentPlaces,
  type ContentPlaces,
  type ContentSettings,
  contentSources,
  kubernetesApi,
} from './content-sources.ts';
import { haveReaders } from '../identity/config-access.ts';
import type { WriteBody } from '../istio/documents/model.ts';
import { discoveryConfig, type DiscoveryConfig } from './discovery-config.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';
import type { DiscoveryFlagName } from './discovery-flags.ts';
import { narrateDiscovery } from '../state/narrate-discovery.ts';
import { namedMesh, namedNetworks } from './named-settings.ts';
import { runDiscovery } from './run-discovery.ts';

/** The command line and the environment of a control plane. */
export interface WholeDiscovery {
  readonly given: Readonly<Partial<Record<DiscoveryFlagName, string>>>;
  readonly logging: GivenLogFlags;
  /** The arguments that belong to no flag. */
  readonly leftover: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a control plane until it is asked to end. Rejects with a {@link Fatal} if the command line
 * is bad (64), if the MeshConfig is bad (78), or if it cannot listen on an address (69).
 */
export async function wholeDiscovery(whole: WholeDiscovery): Promise<void> {
  const startedAt = asyncScheduler.now();
  const { config, settings, places, log, warnings } = await settingsOf(whole);
  const written = attempt(() => openLog(log, 'discovery'), '--log_target');
  const write = (line: LogLine) => written.write({ component: 'discovery', ...line });
  written.open();
  const dumped = dumpNoMemory(dumpFilter);
  for (const line of startLines(config, places, warnings, dumped)) write(line);
  const step$ = discoveryOf(settings, places);
  const end = await new Promise<DiscoveryEvent | undefined>((done, fail) => {
    let last: DiscoveryEvent | undefined; // its views would keep clients that are gone
    step$.subscribe({
      next: ({ before, value }) => {
        last = value;
        if (value.type === 'reopen-requested') written.reopen();
        const lines = narrateDiscovery(before, value, startedAt, asyncScheduler.now());
        for (const line of lines) write(line);
      },
      error: fail,
      complete: () => done(last),
    });
  });
  const failure = end?.type === 'failed' ? failureOf(end, config) : undefined;
  write(
    failure === undefined
      ? line('discovery.ended')
      : line('discovery.failed', { code: failure.code, reason: failure.message }),
  );
  await written.close();
  if (failure !== undefined) throw failure;
}

/** Returns how resources are kept for other control planes; undefined if none may read them. */
async function bodyWriter({ configReaders }: DiscoveryConfig): Promise<WriteBody | undefined> {
  if (!haveReaders(configReaders)) return undefined;
  return (await import('../mcp/write-body.ts')).writeBody;
}

/** Rejects with a {@link Fatal} if the command line (64) or the MeshConfig (78) is bad. */
async function settingsOf({ given, logging, leftover, env }: WholeDiscovery) {
  const { config, problems, warnings } = discoveryConfig(given, env);
  const log = logOptions(logging);
  const allProblems = [
    ...problems,
    ...incomplete(given),
    ...(log.ok ? [] : log.problems.map(({ place, text }) => `${place}: ${text}`)),
  ];
  if (!log.ok || allProblems.length > 0) throw new Fatal(allProblems.join('; '), exitCodes.usage);
  const settings = {
    config,
    mesh: namedMesh(given.meshConfig, config.meshConfig),
    networks: namedNetworks(given.networksConfig, config.networksConfig),
    env,
    writeBody: await bodyWriter(config),
  };
  return {
    config,
    settings,
    places: contentPlaces(settings),
    log: log.options,
    warnings: [...warnings, ...unknown(leftover), ...log.warnings],
  };
}

/**
 * Returns the first lines of the log. `dumped`: why a core dump would contain the memory of the
 * process; undefined if it would not.
 */
function startLines(
  config: DiscoveryConfig,
  { folders, servers, registries }: ContentPlaces,
  warnings: readonly string[],
  dumped: string | undefined,
): readonly LogLine[] {
  const open = config.grpc !== undefined && !isLoopback(config.grpc.host);
  return [
    line('discovery.started', {
      ...(folders.length > 0 && { configDir: folders.join(', ') }),
      ...(servers.length > 0 && {
        configServers: servers.map(({ address }) => `xds://${address}`).join(', '),
      }),
      ...(registries.length > 0 && { registries: registries.join(', ') }),
      ...addresses(config),
    }),
    ...(dumped === undefined ? [] : [line('discovery.memory_dumped', { reason: dumped })]),
    ...warnings.map((warning) => line('discovery.flag_ignored', { warning })),
    ...(open ? [line('discovery.open', { ...addresses(config) })] : []),
  ];
}

/** Runs the control plane of the settings, until a signal ends it. Cold. */
function discoveryOf(
  settings: ContentSettings,
  places: ContentPlaces,
): ReturnType<typeof runDiscovery> {
  const { config, env } = settings;
  const sources = contentSources(settings, places);
  return runDiscovery({
    config,
    event$: merge(...sources.map(({ event$ }) => event$)),
    sources: sources.map(({ name }) => name),
    findApi: isAccessNamed(config.kubeconfig, env)
      ? findAccess(config.kubeconfig, undefined, env)
      : undefined,
    kube: places.registries.includes('Kubernetes') ? kubernetesApi(settings) : undefined,
    terminate$: signals(['SIGTERM', 'SIGINT']),
    reopen$: signals(['SIGUSR1']),
    scheduler: asyncScheduler,
  });
}

/** Explains why it cannot listen on an address, and what to do. */
function failureOf(
  { server, address, reason }: Extract<DiscoveryEvent, { readonly type: 'failed' }>,
  config: DiscoveryConfig,
): Fatal {
  const { host = '', port = 0 } =
    {
      grpcAddr: config.grpc,
      secureGRPCAddr: config.secure?.address,
      httpAddr: config.http,
      monitoringAddr: config.monitoring,
    }[server] ?? {};
  const why = reason.includes('EADDRINUSE')
    ? `is taken${takenBy({ host, port, choose: `--${server}` })}`
    : `cannot be listened on: ${reason}`;
  return new Fatal(`--${server} ${address} ${why}`, exitCodes.unavailable);
}

/**
 * Returns a problem if only some files of the secure port are named: it needs all of them. If only
 * the roots are named, they are added to the roots that the port has already.
 */
function incomplete({
  tlsCertFile = '',
  tlsKeyFile = '',
  caCertFile = '',
}: WholeDiscovery['given']): readonly string[] {
  const pair = [tlsCertFile, tlsKeyFile].filter((path) => path !== '');
  return pair.length === 0 || (pair.length === 2 && caCertFile !== '')
    ? []
    : ['--tlsCertFile, --tlsKeyFile, --caCertFile: give all three, only --caCertFile, or none'];
}

/** Returns a warning for each unknown flag, with the value, if it has one. */
function unknown(leftover: readonly string[]): readonly string[] {
  const flags = leftover.join(' ').split(/ (?=--)/);
  return flags.filter((flag) => flag !== '').map((flag) => `${flag} is not known, and ignored`);
}

function addresses({ grpc, http, monitoring }: DiscoveryConfig): Readonly<Record<string, string>> {
  const named = Object.entries({ grpc, http, monitoring });
  return Object.fromEntries(
    named.flatMap(([name, address]) =>
      address === undefined ? [] : [[name, `${address.host}:${address.port}`]],
    ),
  );
}

/** Whether only this machine can reach an address. An empty host means every address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
