// Why: docs/decisions/019-a-shell-waits-for-a-detached-envoy.md
import { execFileSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { concat, defer, type Observable, of, type SchedulerLike } from 'rxjs';
import type { ProcessEvent, Signal } from '../epochs/ports.ts';
import { remove, writeWhole } from '../shared/files/whole-file.ts';
import { line, type LogLine } from '../shared/log/log-line.ts';
import { type AdoptedEnvoy, adoptedEnvoys } from './adopted-envoys.ts';
import { startTime } from './proc.ts';
import { watchDetached, type Watched } from './watch-detached.ts';

/** Starts Envoys that outlive the agent, and looks after those that an earlier agent has left. */
export interface DetachedEnvoys {
  /** The Envoys that were left, the oldest first. */
  readonly adopted: readonly AdoptedEnvoy[];
  /** Starts one on subscribe; like `Proxy.run`, but unsubscribing leaves it alone. */
  start(
    own: Named,
    binary: string,
    args: readonly string[],
    signals$: Observable<Signal>,
  ): Observable<ProcessEvent>;
  /** Looks after one of `adopted`. It does not say that it exists. */
  watch(adopted: AdoptedEnvoy, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /** Writes down for the next agent which Envoys there are. */
  remember(running: Iterable<Remembered>): void;
  /** Removes what an Envoy that has ended needed. */
  clear(own: Named): void;
}

/**
 * What names the files of one Envoy: an epoch's number alone comes again where nothing was left.
 */
interface Named {
  readonly epoch: number;
  readonly baseId: number;
}

/** A process as it is written down for the next agent. */
interface Remembered extends Omit<AdoptedEnvoy, 'pid' | 'startTime'> {
  /** Undefined until it exists. */
  readonly pid: number | undefined;
}

export interface DetachedOptions {
  readonly setsid: string;
  readonly sh: string;
  readonly folder: string;
  readonly log: (line: LogLine) => void;
  readonly scheduler: SchedulerLike;
}

/**
 * Runs Envoy, says which process that is, and waits for it, for a process that is nobody's child
 * tells nobody how it has ended. With the agent's pipe closed, nothing is left between the two.
 *
 * The log is open already. The exit code is what a link leads to: others may write into the folder
 * too, and to make a link follows none of theirs and waits for no FIFO.
 */
const script = `ended=$1; shift
"$@" </dev/null >&3 2>&3 3>&- &
echo "$!"
exec >&3 2>&1 3>&-
wait "$!"
ln -sfnT "$?" "$ended"`;

/**
 * The detached Envoys of one agent, with its files in `folder`: `envoy-kept.json`, `envoy.log`, and
 * for each Envoy a link that leads to its exit code. Their mode is 0600.
 */
export function detachedEnvoys({
  setsid,
  sh,
  folder,
  log,
  scheduler,
}: DetachedOptions): DetachedEnvoys {
  const listFile = `${folder}/envoy-kept.json`;
  const logFile = `${folder}/envoy.log`;
  const endOf = ({ epoch, baseId }: Named) => `${folder}/envoy-rev${epoch}-${baseId}.exit`;
  /**
   * Envoy would make it for everybody to read, and write into what a link leads to. Returns what
   * `use` does of it, open, and its length in bytes; throws where it cannot be made.
   */
  function withLog<T>(use: (fd: number, length: number) => T): T {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    const fd = openSync(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw new Error(`${logFile} is no regular file`);
      return use(fd, stats.size);
    } finally {
      closeSync(fd);
    }
  }
  const makeLog = () => withLog((_, length) => length);

  function look(
    known: Pick<Watched, 'pid' | 'startTime' | 'from'>,
    own: Named,
    signals$: Observable<Signal>,
  ) {
    return watchDetached({
      ...known,
      ended: endOf(own),
      log: logFile,
      reopening: () => lengthOf(makeLog),
      signals$,
      scheduler,
    });
  }

  return {
    adopted: adoptedEnvoys(listFile),

    start(own, binary, args, signals$) {
      return defer(() => {
        try {
          const kept = ['envoy-keeper', endOf(own), binary, ...args, '--log-path', logFile];
          const { pid, from } = withLog((fd, length) => ({
            pid: Number(
              execFileSync(setsid, ['--fork', sh, '-c', script, ...kept], {
                stdio: ['ignore', 'pipe', 'pipe', fd],
              }),
            ),
            from: length,
          }));
          return concat(
            of<ProcessEvent>({ type: 'spawned', pid }),
            look({ pid, startTime: startTime(pid), from }, own, signals$),
          );
        } catch (error) {
          return of<ProcessEvent>({
            type: 'exited',
            exit: { kind: 'spawn-failed', reason: reasonOf(error) },
          });
        }
      });
    },

    watch: (adopted, signals$) =>
      defer(() =>
        look(
          { pid: adopted.pid, startTime: adopted.startTime, from: lengthOf(makeLog) },
          adopted,
          signals$,
        ),
      ),

    remember(running) {
      const list = [...running].flatMap(
        ({
          pid,
          epoch,
          restartEpoch,
          lineage,
          baseId,
          socketPath,
          addressFile,
        }): readonly AdoptedEnvoy[] => {
          const born = pid === undefined ? undefined : startTime(pid);
          return pid === undefined || born === undefined
            ? []
            : [
                {
                  epoch,
                  restartEpoch,
                  lineage,
                  baseId,
                  socketPath,
                  pid,
                  startTime: born,
                  addressFile,
                },
              ];
        },
      );
      try {
        if (list.length === 0) remove(listFile);
        else writeWhole(listFile, JSON.stringify(list));
      } catch (error) {
        log(line('envoy.not_recorded', { reason: (error as Error).message }));
      }
    },

    clear(own) {
      for (const file of [
        endOf(own),
        ...['json', 'yaml'].map((name) => `${folder}/envoy-rev${own.epoch}.${name}`),
      ])
        remove(file);
    },
  };
}

/** What a small program says where it fails; its whole command line is no reason. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: Buffer };
  return (String(stderr ?? '').trim() || message).split('\n')[0] ?? message;
}

/** 0 where there can be no log: Envoy goes on without. */
function lengthOf(makeLog: () => number): number {
  try {
    return makeLog();
  } catch {
    return 0;
  }
}
