import { asyncScheduler, merge } from 'rxjs';
import { findAccess, isAccessNamed } from '../../shared/kube/find-access.ts';
import { type GivenLogFlags, logOptions } from '../../shared/log/log-options.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import { openLog } from '../../shared/log/open-log.ts';
import { dumpFilter, dumpNoMemory } from '../../shared/program/dump-no-memory.ts';
import { attempt, exitCodes, Fatal } from '../../shared/program/exit.ts';
import { takenBy } from '../../shared/program/taken-port.ts';
import { signals } from '../../streams/process-events.ts';
import { contentPlaces, contentSources, kubernetesApi } from './content-sources.ts';
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
export async function wholeDiscovery({
  given,
  logging,
  leftover,
  env,
}: WholeDiscovery): Promise<void> {
  const startedAt = asyncScheduler.now();
  const { config, problems, warnings } = discoveryConfig(given, env);
  const log = logOptions(logging);
  const allProblems = [
    ...problems,
    ...incomplete(given),
    ...(log.ok ? [] : log.problems.map(({ place, text }) => `${place}: ${text}`)),
  ];
  if (allProblems.length > 0) throw new Fatal(allProblems.join('; '), exitCodes.usage);
  const settings = {
    config,
    mesh: namedMesh(given.meshConfig, config.meshConfig),
    networks: namedNetworks(given.networksConfig, config.networksConfig),
    env,
  };
  const places = contentPlaces(settings);
  const written = attempt(() => openLog(log.options, 'discovery'), '--log_target');
  const write = (line: LogLine) => written.write({ component: 'discovery', ...line });
  written.open();
  write(
    line('discovery.started', {
      ...(places.folders.length > 0 && { configDir: places.folders.join(', ') }),
      ...(places.registries.length > 0 && { registries: places.registries.join(', ') }),
      ...addresses(config),
    }),
  );
  const undumpable = dumpNoMemory(dumpFilter);
  if (undumpable !== undefined) write(line('discovery.memory_dumped', { reason: undumpable }));
  for (const warning of [...warnings, ...unknown(leftover), ...(log.ok ? log.warnings : [])])
    write(line('discovery.flag_ignored', { warning }));

  if (config.grpc !== undefined && !isLoopback(config.grpc.host))
    write(line('discovery.open', { ...addresses(config) }));

  const sources = contentSources(settings, places);
  const terminate$ = signals(['SIGTERM', 'SIGINT']);
  const step$ = runDiscovery({
    config,
    event$: merge(...sources.map(({ event$ }) => event$)),
    sources: sources.map(({ name }) => name),
    findApi: isAccessNamed(config.kubeconfig, env)
      ? findAccess(config.kubeconfig, undefined, env)
      : undefined,
    kube: places.registries.includes('Kubernetes') ? kubernetesApi(settings) : undefined,
    terminate$,
    reopen$: signals(['SIGUSR1']),
    scheduler: asyncScheduler,
  });
  const end = await new Promise<DiscoveryEvent | undefined>((done, fail) => {
    let last: DiscoveryEvent | undefined; // not its views: they have clients that are gone
    step$.subscribe({
      next: (step) => {
        last = step.value;
        if (last.type === 'reopen-requested') written.reopen();
        for (const line of narrateDiscovery(
          step.before,
          step.value,
          startedAt,
          asyncScheduler.now(),
        ))
          write(line);
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

/** Returns a problem if only some files of the secure port are named: it needs all of them. */
function incomplete({
  tlsCertFile = '',
  tlsKeyFile = '',
  caCertFile = '',
}: WholeDiscovery['given']): readonly string[] {
  const named = [tlsCertFile, tlsKeyFile, caCertFile].filter((path) => path !== '');
  return named.length === 0 || named.length === 3
    ? []
    : ['--tlsCertFile, --tlsKeyFile, --caCertFile: give all three, or none'];
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
