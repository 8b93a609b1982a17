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

/** Starts Envoys that outlive the agent, and watches those that an earlier agent left. */
export interface DetachedEnvoys {
  /** The Envoys that an earlier agent left, oldest first. */
  readonly adopted: readonly AdoptedEnvoy[];
  /** Starts an Envoy on subscribe; like `Proxy.run`, but unsubscribing does not end it. */
  start(
    envoy: Named,
    binary: string,
    args: readonly string[],
    signals$: Observable<Signal>,
  ): Observable<ProcessEvent>;
  /** Watches one of `adopted`. Emits no event about its start. */
  watch(adopted: AdoptedEnvoy, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /** Records the running Envoys for the next agent. */
  remember(running: Iterable<Remembered>): void;
  /** Removes the files that an ended Envoy needed. */
  clear(envoy: Named): void;
}

/**
 * The name of one Envoy's files. The base id is part of it, because an epoch's number is used again
 * if no Envoy was left.
 */
interface Named {
  readonly epoch: number;
  readonly baseId: number;
}

/** A process as it is recorded for the next agent. */
interface Remembered extends Omit<AdoptedEnvoy, 'pid' | 'startTime'> {
  /** Undefined until the process exists. */
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
 * Runs Envoy, prints its process id, and waits for it: an Envoy that is not the agent's child
 * cannot report its exit to the agent. After the agent's pipe is closed, nothing connects the two.
 *
 * The log is open already. The exit code is written as the target of a link: other users may also
 * write into the folder, and making a link neither follows their links nor waits for their FIFOs.
 */
const script = `ended=$1; shift
"$@" </dev/null >&3 2>&3 3>&- &
echo "$!"
exec >&3 2>&1 3>&-
wait "$!"
ln -sfnT "$?" "$ended"`;

/**
 * Returns the detached Envoys of one agent. Its files in `folder` are `envoy-kept.json` and
 * `envoy.log`, both with mode 0600, and for each ended Envoy a link whose target is its exit code.
 */
export function detachedEnvoys(options: DetachedOptions): DetachedEnvoys {
  const { folder, log, scheduler } = options;
  const listFile = `${folder}/envoy-kept.json`;
  const logFile = `${folder}/envoy.log`;
  const endOf = ({ epoch, baseId }: Named) => `${folder}/envoy-rev${epoch}-${baseId}.exit`;

  function look(
    process: Pick<Watched, 'pid' | 'startTime' | 'from'>,
    envoy: Named,
    signals$: Observable<Signal>,
  ) {
    return watchDetached({
      ...process,
      ended: endOf(envoy),
      log: logFile,
      reopening: () => lengthOf(logFile),
      signals$,
      scheduler,
    });
  }

  return {
    adopted: adoptedEnvoys(listFile),

    start: (envoy, binary, args, signals$) =>
      defer(() => {
        try {
          const { pid, from } = keeper(options, logFile, [endOf(envoy), binary, ...args]);
          return concat(
            of<ProcessEvent>({ type: 'spawned', pid }),
            look({ pid, startTime: startTime(pid), from }, envoy, signals$),
          );
        } catch (error) {
          const exit = { kind: 'spawn-failed', reason: reasonOf(error) } as const;
          return of<ProcessEvent>({ type: 'exited', exit });
        }
      }),

    watch: (adopted, signals$) =>
      defer(() => {
        const from = lengthOf(logFile);
        return look({ pid: adopted.pid, startTime: adopted.startTime, from }, adopted, signals$);
      }),

    remember(running) {
      const list = [...running].flatMap(entryOf);
      try {
        if (list.length === 0) remove(listFile);
        else writeWhole(listFile, JSON.stringify(list));
      } catch (error) {
        log(line('envoy.not_recorded', { reason: (error as Error).message }));
      }
    },

    clear(envoy) {
      const stem = `${folder}/envoy-rev${envoy.epoch}`;
      for (const file of [endOf(envoy), `${stem}.json`, `${stem}.yaml`]) remove(file);
    },
  };
}

/**
 * Opens the log, because Envoy would make it readable for everybody, and would follow a link.
 * Returns the result of `use`, which gets the open file and its length in bytes; throws if the log
 * cannot be made.
 */
function withLog<T>(logFile: string, use: (fd: number, length: number) => T): T {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`${logFile} is not a regular file`);
    return use(fd, stats.size);
  } finally {
    closeSync(fd);
  }
}

/**
 * Starts an Envoy as the child of a shell that records its exit code. Returns the process id of
 * Envoy, and the length of the log before it. Throws if the log or `setsid` fails.
 */
function keeper(
  { setsid, sh }: DetachedOptions,
  logFile: string,
  command: readonly string[],
): { readonly pid: number; readonly from: number } {
  const given = ['envoy-keeper', ...command, '--log-path', logFile];
  return withLog(logFile, (fd, length) => {
    const printed = execFileSync(setsid, ['--fork', sh, '-c', script, ...given], {
      stdio: ['ignore', 'pipe', 'pipe', fd],
    });
    return { pid: Number(printed), from: length };
  });
}

/** Returns the entry of a process in the list for the next agent, if the process exists. */
function entryOf({
  pid,
  epoch,
  restartEpoch,
  lineage,
  baseId,
  socketPath,
  addressFile,
}: Remembered): readonly AdoptedEnvoy[] {
  const born = pid === undefined ? undefined : startTime(pid);
  if (pid === undefined || born === undefined) return [];
  return [{ epoch, restartEpoch, lineage, baseId, socketPath, pid, startTime: born, addressFile }];
}

/** Returns the error message of a small program, without its command line. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: Buffer };
  return (String(stderr ?? '').trim() || message).split('\n')[0] ?? message;
}

/** Returns the length of the log; 0 if it cannot be opened: Envoy also runs without a log. */
function lengthOf(logFile: string): number {
  try {
    return withLog(logFile, (_, length) => length);
  } catch {
    return 0;
  }
}
