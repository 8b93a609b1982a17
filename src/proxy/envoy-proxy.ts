import { unlinkSync } from 'node:fs';
import { asyncScheduler, defer, finalize, ignoreElements, map, of, type SchedulerLike, switchMap, tap } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import { parseStats } from '../admin/parse-stats.ts';
import type { ProcessEvent, Proxy, Verdict, Vitals } from '../agent/ports.ts';
import type { EnvoyLine } from '../log/envoy-lines.ts';
import { activeFilter, activeRequests } from './active-requests.ts';
import { checkPairs, type KeyPair } from './check-pairs.ts';
import { type EnvoyArgs, envoyArgs } from './envoy-args.ts';
import { sharedMemoryOf } from './free-base-id.ts';
import { guard } from './guard.ts';
import type { EpochConfig } from './epoch-config.ts';
import { hasInbound } from './has-inbound.ts';
import { isLive } from './is-live.ts';
import { spawnEnvoy, type Tools } from './spawn-envoy.ts';
import { validate } from './validate.ts';
import { withConfigFile } from './with-config-file.ts';

export interface EnvoyOptions {
  readonly binary: string;
  readonly args: EnvoyArgs;
  /** What the next Envoy is started from; asked at each start and each check. */
  readonly config: () => EpochConfig;
  readonly admin: AdminClient;
  /** Where Envoy writes down its admin address. */
  readonly addressFile: string;
  /** An empty folder, or one of the agent's own, for each epoch's bootstrap, and a FIFO for a moment. */
  readonly folder: string;
  readonly pairs: readonly KeyPair[];
  /** A sidecar drains what comes from outside and keeps its application's own calls going; a router drains all. */
  readonly drainsAll: boolean;
  readonly tools: Tools;
  readonly onLine: (line: EnvoyLine, epoch: number) => void;
  readonly scheduler?: SchedulerLike;
}

/** A process that has been started and has not ended. */
interface Running {
  readonly epoch: number;
  readonly restartEpoch: number;
  /** Once it is, it is enough that somebody answers. */
  seenLive: boolean;
}

/** An admin endpoint that is handed over may leave a question unanswered: the next one is not to wait for it. In ms. */
const answerWithin = 500;

/** The proxy as a real Envoy. */
export function envoyProxy(options: EnvoyOptions): Proxy {
  const { binary, args, config, admin, addressFile, folder, pairs, drainsAll, tools, onLine, scheduler = asyncScheduler } = options;
  const running = new Set<Running>();
  let relieveGuard: (() => void) | undefined;

  return {
    run({ epoch, restartEpoch }, signals$) {
      return defer(() => {
        const own: Running = { epoch, restartEpoch, seenLive: false };
        if (running.size === 0) remove(addressFile);
        running.add(own);
        return withConfigFile<ProcessEvent>(config(), `${folder}/envoy-rev${epoch}`, {
          failed: (reason) => ({ type: 'exited', exit: { kind: 'spawn-failed', reason } }),
          use: (path, override) =>
            spawnEnvoy({
              binary,
              args: [...envoyArgs(args, { config: path, override, restartEpoch }), '--admin-address-path', addressFile],
              fifo: `${folder}/envoy-rev${epoch}.stderr`,
              tools,
              stdout: 'inherit',
              onLine: (line) => onLine(line, epoch),
              signals$,
              scheduler,
            }),
        }).pipe(
          tap(({ type }) => {
            if (type === 'spawned' && tools.sh !== undefined) relieveGuard ??= guard(tools.sh, args.baseId);
          }),
          finalize(() => {
            running.delete(own);
            if (running.size > 0) return;
            relieveGuard?.();
            relieveGuard = undefined;
            remove(addressFile);
            remove(sharedMemoryOf(args.baseId));
          }),
        );
      });
    },

    vitals(epoch) {
      return defer(() => {
        const asked = [...running].find((process) => process.epoch === epoch);
        // Who answers is worth 110 KB of JSON until the epoch has been seen LIVE; after that it is enough that somebody does.
        const known = asked?.seenLive === true;
        return admin.request('GET', known ? '/ready' : '/server_info', answerWithin).pipe(
          map((answer): Vitals => {
            if (!answer.ok) return admin.located() ? 'silent' : 'unknown';
            const { status, body } = answer.value;
            const live = status === 200 && (known || isLive(body, args.baseId, asked?.restartEpoch));
            if (live && asked !== undefined) asked.seenLive = true;
            return live ? 'live' : 'up';
          }),
        );
      });
    },

    check() {
      return checkPairs(pairs, scheduler).pipe(
        switchMap((verdict) =>
          verdict.ok
            ? withConfigFile<Verdict>(config(), `${folder}/envoy-check`, {
                failed: (reason) => ({ ok: false, reason }),
                use: (path, override) => {
                  const tried = envoyArgs(args, { config: path, override, restartEpoch: 0 });
                  return validate({ binary, args: tried, folder, tools, alone: () => running.size === 0, scheduler });
                },
              })
            : of(verdict),
        ),
      );
    },

    drain(graceful) {
      const inboundOnly$ = !graceful || drainsAll ? of(false) : hasInbound(admin);
      return inboundOnly$.pipe(
        map((inboundOnly) => [...(inboundOnly ? ['inboundonly'] : []), ...(graceful ? ['graceful', 'skip_exit'] : [])].join('&')),
        switchMap((query) => admin.request('POST', `/drain_listeners?${query}`)),
        ignoreElements(),
      );
    },

    active() {
      return admin
        .request('GET', `/stats?filter=${encodeURIComponent(activeFilter)}`)
        .pipe(map((answer) => (answer.ok && answer.value.status === 200 ? activeRequests(parseStats(answer.value.body)) : undefined)));
    },
  };
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there.
  }
}
