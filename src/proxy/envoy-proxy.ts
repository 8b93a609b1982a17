import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  finalize,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
} from 'rxjs';
import type { AdminClient } from './admin-client.ts';
import type { Launch, ProcessEvent, Proxy, Signal } from '../epochs/ports.ts';
import type { EnvoyLine } from './envoy-lines.ts';
import { askActive, askDrain, askHealth } from './ask-epoch.ts';
import { identityOf } from './compatibility.ts';
import { withConfigFile } from './config-file.ts';
import type { AdoptedEnvoy } from './adopted-envoys.ts';
import type { DetachedEnvoys } from './detached-envoys.ts';
import { envoyArgs } from './envoy-args.ts';
import type { RestartAddresses } from './restart-addresses.ts';
import { type Processes, processes, type RunningProcess } from './processes.ts';
import { sideBySide, type StartFrom } from './side-by-side.ts';
import { type CheckOptions, readingChecks } from './reading-checks.ts';
import { spawnEnvoy } from './spawn-envoy.ts';

export interface EnvoyOptions extends CheckOptions {
  readonly admin: AdminClient;
  /** The file to which Envoy writes its admin address. */
  readonly addressFile: string;
  /**
   * Whether a drain covers all listeners. A sidecar drains only inbound traffic, and its
   * application can still make calls; a router drains all.
   */
  readonly drainsAll: boolean;
  /** Present if Envoys outlive the agent. */
  readonly detached?: DetachedEnvoys | undefined;
  /** The base ids and sockets of the lineages. */
  readonly restartAddresses: RestartAddresses;
  readonly onLine: (line: EnvoyLine, epoch: number) => void;
  readonly scheduler?: SchedulerLike;
}

const alone = 'enable_reuse_port is false: no other Envoy can listen beside the one that runs';

/** Returns the proxy that runs real Envoys. */
export function envoyProxy(options: EnvoyOptions): Proxy {
  const { drainsAll, detached, scheduler = asyncScheduler } = options;
  const running = processes(options);
  return {
    ...readingChecks(options, running.newest, scheduler),

    run(launch, signals$) {
      return defer(() => {
        const adopted = launch.adopted
          ? detached?.adopted.find(({ epoch }) => epoch === launch.epoch)
          : undefined;
        const process = entered(() => running.enter(launch, adopted));
        if (typeof process === 'string') return of(notStarted(process));
        const life$ = launch.adopted
          ? watched(detached, adopted, signals$)
          : started(options, running, { launch, process, signals$, scheduler });
        return life$.pipe(
          tap((event) => {
            if (event.type === 'spawned') running.born(process, event.pid);
            else process.ended = true;
          }),
          finalize(() => running.leave(process)),
        );
      });
    },

    publishAdmin(epoch) {
      return defer(() => {
        running.publishAdmin(epoch);
        return EMPTY;
      });
    },

    health: (epoch) => defer(() => askHealth(running.find(epoch), running.adminOf(epoch))),
    drain: (epoch, how) => defer(() => askDrain(running.adminOf(epoch), how, drainsAll)),
    active: (epoch) => defer(() => askActive(running.adminOf(epoch))),
  };
}

/** Returns the result of `make`, or the reason of its failure. */
function entered<T>(make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    return `no place for the sockets of a hot restart: ${(error as Error).message}`;
  }
}

/**
 * Returns the exit for an override that cannot be merged: Envoy itself would end with 1. The check
 * reports the same reason.
 */
function notTaken(reason: string): ProcessEvent {
  return { type: 'exited', exit: { kind: 'failed', code: 1, tail: [reason] } };
}

function notStarted(reason: string): ProcessEvent {
  return { type: 'exited', exit: { kind: 'spawn-failed', reason } };
}

/** Watches an Envoy that an earlier agent left. */
function watched(
  detached: DetachedEnvoys | undefined,
  adopted: AdoptedEnvoy | undefined,
  signals$: Observable<Signal>,
): Observable<ProcessEvent> {
  if (detached === undefined || adopted === undefined)
    return of({ type: 'exited', exit: { kind: 'unknown', tail: [] } });
  return detached.watch(adopted, signals$);
}

interface Start {
  readonly launch: Extract<Launch, { readonly adopted: false }>;
  readonly process: RunningProcess;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/** Starts the Envoy of an epoch from its configuration. Works as `Proxy.run`. */
function started(
  options: EnvoyOptions,
  running: Processes,
  start: Start,
): Observable<ProcessEvent> {
  const { args, admin, folder, detached } = options;
  const { launch, process } = start;
  return withConfigFile<ProcessEvent>(launch.reading.config, `${folder}/envoy-rev${launch.epoch}`, {
    failed: (reason, outcome) =>
      outcome === 'refused' && launch.reading.config.kind !== 'refused'
        ? notTaken(reason)
        : notStarted(reason),
    outlives: detached !== undefined,
    use: (path) => {
      const startFrom = { config: path, override: '', ipv6: args.ipv6 };
      const from$: Observable<StartFrom | string | undefined> = launch.sideBySide
        ? sideBySide(startFrom, admin, process.config).pipe(
            catchError((error: unknown) =>
              of(`no place beside the other Envoy: ${(error as Error).message}`),
            ),
          )
        : of(startFrom);
      return from$.pipe(
        switchMap((from) => {
          if (from === undefined) return of(notStarted(alone));
          if (typeof from === 'string') return of(notStarted(from));
          if (from.adminPort !== undefined) running.placeSideBySide(process, from.adminPort);
          return spawned(options, start, from);
        }),
      );
    },
  });
}

/** Starts the process. With `--keepEnvoy` it outlives the agent, otherwise not. */
function spawned(
  { binary, args, folder, tools, detached, onLine }: EnvoyOptions,
  { launch: { epoch, restartEpoch }, process, signals$, scheduler }: Start,
  from: StartFrom,
): Observable<ProcessEvent> {
  process.identity = identityOf(binary);
  const epochArgs = [
    ...envoyArgs(args, { ...from, restartEpoch, restartAddress: process }),
    '--admin-address-path',
    process.addressFile,
  ];
  if (detached !== undefined) return detached.start(process, binary, epochArgs, signals$);
  return spawnEnvoy({
    binary,
    args: epochArgs,
    fifo: `${folder}/envoy-rev${epoch}.stderr`,
    tools,
    stdout: 'inherit',
    onLine: (line) => onLine(line, epoch),
    signals$,
    scheduler,
  });
}
