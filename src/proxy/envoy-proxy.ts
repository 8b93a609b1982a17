import {
  asyncScheduler,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
} from 'rxjs';
import { type AdminClient, parseStats } from './admin-client.ts';
import type { Health, Launch, ProcessEvent, Proxy, Signal } from '../epochs/ports.ts';
import type { EnvoyLine } from './envoy-lines.ts';
import { activeFilter, activeRequests, hasInbound, isLive } from './admin-questions.ts';
import { identityOf } from './compatibility.ts';
import { withConfigFile } from './config-file.ts';
import type { AdoptedEnvoy } from './adopted-envoys.ts';
import type { DetachedEnvoys } from './detached-envoys.ts';
import { envoyArgs } from './envoy-args.ts';
import type { MeetingPlaces } from './meeting-places.ts';
import { processes, type RunningProcess } from './processes.ts';
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
  /** The places where the Envoys of a lineage meet. */
  readonly places: MeetingPlaces;
  readonly onLine: (line: EnvoyLine, epoch: number) => void;
  readonly scheduler?: SchedulerLike;
}

/**
 * The wait for an answer, in ms. An admin endpoint that is handed over may leave a question
 * unanswered, which must not delay the next one.
 */
const answerWithin = 500;

const alone = 'enable_reuse_port is false: no other Envoy can listen beside the one that runs';

type NewLaunch = Extract<Launch, { readonly adopted: false }>;

/** Returns the proxy that runs real Envoys. */
export function envoyProxy(options: EnvoyOptions): Proxy {
  const { binary, args, admin, folder, drainsAll, detached, scheduler = asyncScheduler } = options;
  const running = processes(options);
  let identity = '';
  const checks = readingChecks(
    options,
    { newest: () => running.newest(), identity: () => identity },
    scheduler,
  );

  /** Watches an Envoy that an earlier agent left. */
  function watched(
    adopted: AdoptedEnvoy | undefined,
    signals$: Observable<Signal>,
  ): Observable<ProcessEvent> {
    if (detached === undefined || adopted === undefined)
      return of({ type: 'exited', exit: { kind: 'unknown', tail: [] } });
    return detached.watch(adopted, signals$);
  }

  function started(
    launch: NewLaunch,
    process: RunningProcess,
    signals$: Observable<Signal>,
  ): Observable<ProcessEvent> {
    return withConfigFile<ProcessEvent>(
      launch.reading.config,
      `${folder}/envoy-rev${launch.epoch}`,
      {
        failed: (reason, outcome) =>
          outcome === 'refused' && launch.reading.config.kind !== 'refused'
            ? notTaken(reason)
            : notStarted(reason),
        outlives: detached !== undefined,
        use: (path) => {
          const given = { config: path, override: '', ipv6: args.ipv6 };
          const from$: Observable<StartFrom | undefined> = launch.sideBySide
            ? sideBySide(given, admin, process.config)
            : of(given);
          return from$.pipe(
            switchMap((from) => {
              if (from === undefined) return of(notStarted(alone));
              if (from.adminPort !== undefined) running.placeSideBySide(process, from.adminPort);
              identity = identityOf(binary);
              return startEnvoy(options, { launch, process, from, signals$, scheduler });
            }),
          );
        },
      },
    );
  }

  return {
    ...checks,

    run(launch, signals$) {
      return defer(() => {
        const adopted = launch.adopted
          ? detached?.adopted.find(({ epoch }) => epoch === launch.epoch)
          : undefined;
        const process = entered(() => running.enter(launch, adopted));
        if (typeof process === 'string') return of(notStarted(process));
        const life$ = launch.adopted
          ? watched(adopted, signals$)
          : started(launch, process, signals$);
        return life$.pipe(
          tap((event) => {
            if (event.type === 'spawned') running.born(process, event.pid);
            else process.ended = true;
          }),
          finalize(() => running.leave(process)),
        );
      });
    },

    health(epoch) {
      return defer(() => {
        const asked = running.find(epoch);
        const admin = running.adminOf(epoch);
        const answer$ = (path: string) => admin.request('GET', path, answerWithin);
        // Until this epoch was seen LIVE, 110 KB of JSON show which epoch answers; after that any
        // LIVE answer is enough.
        const isKnown = asked?.seenLive === true;
        return answer$('/ready').pipe(
          switchMap((ready) =>
            isKnown || !ready.ok || ready.value.status !== 200
              ? of(ready)
              : answer$('/server_info'),
          ),
          map((answer): Health => {
            if (!answer.ok) return admin.located() ? 'unresponsive' : 'unknown';
            const live =
              answer.value.status === 200 && (isKnown || isLive(answer.value.body, asked));
            if (live && asked !== undefined) asked.seenLive = true;
            return live ? 'live' : 'up';
          }),
        );
      });
    },

    publishAdmin(epoch) {
      return defer(() => {
        running.publishAdmin(epoch);
        return EMPTY;
      });
    },

    drain(epoch, how) {
      return defer(() => {
        const client = running.adminOf(epoch);
        const inboundOnly$ = how === 'close' || drainsAll ? of(false) : hasInbound(client);
        return inboundOnly$.pipe(
          map((inboundOnly) =>
            [
              ...(inboundOnly ? ['inboundonly'] : []),
              ...(how === 'graceful' ? ['graceful', 'skip_exit'] : []),
            ].join('&'),
          ),
          switchMap((query) => client.request('POST', `/drain_listeners?${query}`)),
          ignoreElements(),
        );
      });
    },

    active(epoch) {
      const stats$ = defer(() =>
        running.adminOf(epoch).request('GET', `/stats?filter=${encodeURIComponent(activeFilter)}`),
      );
      return stats$.pipe(
        map((answer) =>
          answer.ok && answer.value.status === 200
            ? activeRequests(parseStats(answer.value.body))
            : undefined,
        ),
      );
    },
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
 * Returns the exit for an unreadable override, with which Envoy would end with 1. The check reports
 * the same.
 */
function notTaken(reason: string): ProcessEvent {
  return { type: 'exited', exit: { kind: 'failed', code: 1, tail: [reason] } };
}

function notStarted(reason: string): ProcessEvent {
  return { type: 'exited', exit: { kind: 'spawn-failed', reason } };
}

interface Start {
  readonly launch: Launch;
  readonly process: RunningProcess;
  readonly from: StartFrom;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/**
 * Starts the Envoy of an epoch. With `--keepEnvoy` it outlives the agent, otherwise not. Works as
 * `Proxy.run`.
 */
function startEnvoy(
  { binary, args, folder, tools, detached, onLine }: EnvoyOptions,
  { launch: { epoch, restartEpoch }, process, from, signals$, scheduler }: Start,
): Observable<ProcessEvent> {
  const given = [
    ...envoyArgs(args, { ...from, restartEpoch, place: process }),
    '--admin-address-path',
    process.addressFile,
  ];
  if (detached !== undefined) return detached.start(process, binary, given, signals$);
  return spawnEnvoy({
    binary,
    args: given,
    fifo: `${folder}/envoy-rev${epoch}.stderr`,
    tools,
    stdout: 'inherit',
    onLine: (line) => onLine(line, epoch),
    signals$,
    scheduler,
  });
}
