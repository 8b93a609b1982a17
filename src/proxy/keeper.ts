import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { concat, defer, type Observable, of, type SchedulerLike } from 'rxjs';
import type { ProcessEvent, Signal } from '../agent/ports.ts';
import type { LogLine } from '../log/log-line.ts';
import { type KeptEnvoy, keptEnvoys } from './kept-envoys.ts';
import type { Running } from './processes.ts';
import { startTime } from './start-time.ts';
import { type Watched, watchEnvoy } from './watch-envoy.ts';

/** Starts Envoys that outlive the agent, and looks after those that an earlier agent has left. */
export interface Keeper {
  /** The Envoys that were left, the oldest first. */
  readonly kept: readonly KeptEnvoy[];
  /** Starts one on subscribe; like `Proxy.run`, but unsubscribing leaves it alone. */
  start(epoch: number, binary: string, args: readonly string[], signals$: Observable<Signal>): Observable<ProcessEvent>;
  /** Looks after one of `kept`. It does not say that it exists. */
  watch(kept: KeptEnvoy, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /** Writes down for the next agent which Envoys there are. */
  remember(running: Iterable<Running>): void;
  /** Removes what an Envoy that has ended needed. */
  clear(epoch: number): void;
}

export interface KeeperOptions {
  readonly setsid: string;
  readonly sh: string;
  readonly folder: string;
  readonly tell: (line: LogLine) => void;
  readonly scheduler: SchedulerLike;
}

/**
 * Runs Envoy, says which process that is, and waits for it, for a process that is nobody's child tells nobody how it has ended. With the agent's pipe
 * closed, nothing is left between the two.
 */
const script = `log=$1 ended=$2; shift 2
"$@" </dev/null >>"$log" 2>&1 &
echo "$!"
umask 077
exec >>"$log" 2>&1
wait "$!"
echo "$?" >"$ended"`;

/** The keeper of one agent, with its files in `folder`: `envoy-kept.json`, `envoy.log`, and for each epoch `envoy-revN.exit`. All are for their owner's eyes only. */
export function keeper({ setsid, sh, folder, tell, scheduler }: KeeperOptions): Keeper {
  const list = `${folder}/envoy-kept.json`;
  const log = `${folder}/envoy.log`;
  const endOf = (epoch: number) => `${folder}/envoy-rev${epoch}.exit`;
  /** Envoy would make it for everybody to read. Returns how long it is, in bytes; throws where it cannot be made. */
  const makeLog = () => {
    const fd = openSync(log, 'a', 0o600);
    try {
      return fstatSync(fd).size;
    } finally {
      closeSync(fd);
    }
  };

  function look(known: Pick<Watched, 'pid' | 'startTime' | 'from'>, epoch: number, signals$: Observable<Signal>) {
    return watchEnvoy({ ...known, ended: endOf(epoch), log, reopening: () => lengthOf(makeLog), signals$, scheduler });
  }

  return {
    kept: keptEnvoys(list),

    start(epoch, binary, args, signals$) {
      return defer(() => {
        try {
          const from = makeLog();
          remove(endOf(epoch));
          const kept = ['envoy-keeper', log, endOf(epoch), binary, ...args, '--log-path', log];
          const said = execFileSync(setsid, ['--fork', sh, '-c', script, ...kept], { stdio: ['ignore', 'pipe', 'ignore'] });
          const pid = Number(said);
          return concat(of<ProcessEvent>({ type: 'spawned', pid }), look({ pid, startTime: startTime(pid), from }, epoch, signals$));
        } catch (error) {
          return of<ProcessEvent>({ type: 'exited', exit: { kind: 'spawn-failed', reason: (error as Error).message } });
        }
      });
    },

    watch: ({ pid, startTime: born, epoch }, signals$) =>
      defer(() => look({ pid, startTime: born, from: lengthOf(makeLog) }, epoch, signals$)),

    remember(running) {
      const kept = [...running].flatMap(({ epoch, restartEpoch, line, baseId, pid, addressFile }): readonly KeptEnvoy[] => {
        const born = pid === undefined ? undefined : startTime(pid);
        return pid === undefined || born === undefined ? [] : [{ epoch, restartEpoch, line, baseId, pid, startTime: born, addressFile }];
      });
      try {
        if (kept.length === 0) remove(list);
        else {
          writeFileSync(`${list}.new`, JSON.stringify(kept), { mode: 0o600 });
          renameSync(`${list}.new`, list);
        }
      } catch (error) {
        tell({ level: 'warn', msg: 'the next agent cannot be told of this Envoy, and will kill it', reason: (error as Error).message });
      }
    },

    clear(epoch) {
      for (const name of ['exit', 'json', 'yaml']) remove(`${folder}/envoy-rev${epoch}.${name}`);
    },
  };
}

/** 0 where there can be no log: Envoy goes on without. */
function lengthOf(makeLog: () => number): number {
  try {
    return makeLog();
  } catch {
    return 0;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there.
  }
}
