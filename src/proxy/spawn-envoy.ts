// Why: docs/decisions/006-envoys-stderr-is-a-fifo.md
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { execa } from 'execa';
import { Observable, type SchedulerLike, Subject } from 'rxjs';
import { withMessage } from '../epochs/exit-cause.ts';
import type { ProcessEvent, Signal, Exit } from '../epochs/ports.ts';
import { remove } from '../shared/files/whole-file.ts';
import { type EnvoyLine, envoyLines } from './envoy-lines.ts';
import { endFirst, memory } from './memory.ts';

/** The small programs that help to start an Envoy, if the machine has them. */
export interface Tools {
  /** Does the work of the other tools and of the orphan reaper. If it exists, they are not used. */
  readonly guard?: string | undefined;
  readonly mkfifo: string | undefined;
  readonly setpriv: string | undefined;
  readonly sh: string | undefined;
}

export interface Spawn {
  readonly binary: string;
  readonly args: readonly string[];
  /** The path of the FIFO, which exists only briefly. */
  readonly fifo: string;
  readonly tools: Tools;
  /**
   * The target of its output stream: an access log on `/dev/stdout` is part of the agent's output,
   * and the output of a validation is not.
   */
  readonly stdout: 'inherit' | 'ignore';
  /** If memory runs short, the kernel ends it before the agent and the Envoy that serves. */
  readonly expendable?: true;
  readonly onLine: (line: EnvoyLine) => void;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/** The number of last lines that are repeated after a crash. */
const tailLines = 20;
/** How long Envoy's last text may take to arrive after its exit. In ms. */
const lastWords = 200;

/**
 * Starts Envoy only if the agent still lives: it may have died before the parent-death signal,
 * which ends Envoy, was set.
 */
const unlessOrphaned = '[ "$PPID" = "$0" ] && exec "$@"';

/**
 * Starts Envoy in a new process group, and emits its start and its exit. Cold; never errors;
 * unsubscribing kills it.
 *
 * Its error stream is a FIFO that only Envoy writes to: Node's pipes are sockets, which Envoy
 * cannot open by path for an access log on `/dev/stderr`. It is read until Envoy has closed it, so
 * `onLine` has seen every line before the exit is emitted.
 */
export function spawnEnvoy({
  binary,
  args,
  fifo,
  tools,
  stdout,
  expendable,
  onLine,
  signals$,
  scheduler,
}: Spawn): Observable<ProcessEvent> {
  return new Observable((subscriber) => {
    const errors = openFifo(tools, fifo);
    const child = startChild({ binary, args, tools, stdout }, errors);
    if ('reason' in child) {
      for (const fd of errors === undefined ? [] : [errors.read, errors.write]) closeSync(fd);
      subscriber.next({ type: 'exited', exit: { kind: 'spawn-failed', reason: child.reason } });
      subscriber.complete();
      return;
    }
    if (expendable === true && child.pid !== undefined) endFirst(child.pid);
    const fail = (error: unknown) => subscriber.error(error);
    const killsBefore = memory()?.oomKills;
    let tail: readonly string[] = [];
    const pieces$ = new Subject<string>();
    subscriber.add(
      pieces$.pipe(envoyLines(scheduler)).subscribe({
        next: (line) => {
          tail = withMessage(tail, line.message, tailLines);
          onLine(line);
        },
        error: fail,
      }),
    );
    const silence =
      errors === undefined
        ? Promise.resolve()
        : readAll(errors.read, (piece) => pieces$.next(piece));
    if (errors !== undefined) closeSync(errors.write);
    else if ((tools.guard ?? tools.mkfifo) !== undefined) onLine(unreadLines(fifo));

    if (child.pid !== undefined) subscriber.next({ type: 'spawned', pid: child.pid });
    subscriber.add(signals$.subscribe({ next: (signal) => child.kill(signal), error: fail }));
    subscriber.add(() => child.kill('SIGKILL'));

    void child.then(async (result) => {
      const late = new Promise<void>((resolve) =>
        subscriber.add(scheduler.schedule(() => resolve(), lastWords)),
      );
      await Promise.race([silence, late]);
      pieces$.complete();
      subscriber.next({
        type: 'exited',
        exit: toExit(result, tail, killsBefore, memory()?.oomKills),
      });
      subscriber.complete();
    });
  });
}

/** Returns the process, or why execa takes no such command line. */
function startChild(
  { binary, args, tools, stdout }: Pick<Spawn, 'binary' | 'args' | 'tools' | 'stdout'>,
  errors: { readonly write: number } | undefined,
) {
  const wrapped = protect(tools, binary, args);
  try {
    return execa(wrapped.file, wrapped.args, {
      // execa takes any descriptor, but its types only the first ten
      stdio: ['ignore', stdout, errors === undefined ? 'inherit' : (errors.write as 3)],
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
    });
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

function unreadLines(fifo: string): EnvoyLine {
  return {
    level: 'warn',
    component: 'stderr',
    message: `no FIFO can be made at ${fifo}: Envoy's lines are passed on unread`,
  };
}

function protect(
  { guard, setpriv, sh }: Tools,
  binary: string,
  args: readonly string[],
): { file: string; args: readonly string[] } {
  if (guard !== undefined)
    return { file: guard, args: ['run', String(process.pid), binary, ...args] };
  if (setpriv === undefined) return { file: binary, args };
  const guarded =
    sh === undefined
      ? [binary, ...args]
      : [sh, '-c', unlessOrphaned, String(process.pid), binary, ...args];
  return { file: setpriv, args: ['--pdeathsig', 'KILL', ...guarded] };
}

/**
 * Returns both ends of a FIFO whose name is removed, or undefined if the machine cannot make one.
 */
function openFifo(
  { guard, mkfifo }: Tools,
  path: string,
): { read: number; write: number } | undefined {
  const maker = guard ?? mkfifo;
  if (maker === undefined) return undefined;
  let read: number | undefined;
  try {
    execFileSync(maker, guard === undefined ? ['-m', '600', path] : ['fifo', path], {
      stdio: 'ignore',
    });
    read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { read, write: openSync(path, constants.O_WRONLY) };
  } catch {
    if (read !== undefined) closeSync(read);
    return undefined;
  } finally {
    remove(path);
  }
}

function readAll(fd: number, onPiece: (piece: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const socket = new Socket({ fd, readable: true, writable: false }).setEncoding('utf8');
    socket
      .on('data', onPiece)
      .on('error', () => socket.destroy())
      .on('close', () => resolve());
  });
}

/**
 * The fields of execa's result that count here, for a process that ended or could not be started.
 */
export interface Ended {
  readonly exitCode?: number | undefined;
  readonly signal?: NodeJS.Signals | undefined;
  readonly originalMessage?: string | undefined;
}

/**
 * Returns how a process ended, from the operating system's result and its last lines. `killsBefore`
 * and `killsAfter` are the counts of processes that the kernel killed because memory ran out.
 */
export function toExit(
  { exitCode, signal, originalMessage }: Ended,
  tail: readonly string[],
  killsBefore?: number,
  killsAfter?: number,
): Exit {
  if (signal !== undefined) {
    const isOomKnown =
      signal === 'SIGKILL' && killsBefore !== undefined && killsAfter !== undefined;
    return {
      kind: 'signaled',
      signal,
      tail,
      ...(isOomKnown && { outOfMemory: killsAfter > killsBefore }),
    };
  }
  if (exitCode === undefined)
    return { kind: 'spawn-failed', reason: originalMessage ?? 'it could not be started' };
  if (exitCode === 0) return { kind: 'clean' };
  // The exit codes of guard, shell and setpriv for a program that cannot be executed. Envoy ends
  // with 0 or 1.
  if (exitCode === 126 || exitCode === 127)
    return { kind: 'spawn-failed', reason: tail.at(-1) ?? String(exitCode) };
  const unbound = tail
    .map((line) => /cannot bind '(.+?)': (Address already in use|Permission denied)/.exec(line))
    .find((match) => match !== null);
  const address = unbound?.[1];
  const failed: Exit = { kind: 'failed', code: exitCode, tail };
  if (address === undefined) return failed;
  return unbound?.[2] === 'Permission denied'
    ? { ...failed, addressDenied: address }
    : { ...failed, addressTaken: address };
}
