import {
  closeSync,
  constants as fileConstants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { constants } from 'node:os';
import {
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  takeLast,
  takeWhile,
  tap,
  timer,
  toArray,
} from 'rxjs';
import { withMessage } from '../epochs/exit-cause.ts';
import type { ProcessEvent, Signal, Exit } from '../epochs/ports.ts';
import { envoyLines } from './envoy-lines.ts';
import { pollUntil } from '../operators/poll-until.ts';
import { memory } from './memory.ts';
import { startTime } from './proc.ts';
import { toExit } from './spawn-envoy.ts';

export interface Watched {
  readonly pid: number;
  /** The start time of that process; undefined if it had ended before it was looked at. */
  readonly startTime: string | undefined;
  /** The path at which its keeper records the exit code. */
  readonly ended: string;
  /** The file of its log. */
  readonly log: string;
  /** The length of the log when it was started, in bytes: earlier text is from other processes. */
  readonly from: number;
  /** Called before the process is asked to open its log again. */
  readonly reopening: () => void;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/** Time between two looks at a process that is not a child of this one. In ms. */
const every = 100;
/**
 * How long its keeper may take to record its end, and the time between two looks for that record.
 * In ms.
 */
const timeoutMs = 1_000;
const again = 10;
/** The length of the end of the log that is read for its last lines. */
const tailBytes = 65_536;
const tailLines = 20;
/** In bytes. */
const longestStatus = 8;

/**
 * Watches an Envoy that is not a child of this process: passes signals on to it, emits its end, and
 * completes. Cold; never errors. Unsubscribing does not end it.
 */
export function watchDetached({
  pid,
  startTime: born,
  ended,
  log,
  from,
  reopening,
  signals$,
  scheduler,
}: Watched): Observable<ProcessEvent> {
  return defer(() => {
    const killsBefore = memory()?.oomKills;
    const lives = () => born !== undefined && startTime(pid) === born;
    const sent$ = signals$.pipe(
      tap((signal) => {
        if (signal === 'SIGUSR1') reopening();
        if (lives()) send(pid, signal);
      }),
      ignoreElements(),
    );
    const status$ = defer(() => of(statusIn(ended))).pipe(
      pollUntil((status) => status !== undefined, { every: again, limit: timeoutMs }, scheduler),
      takeLast(1),
    );
    const exited$ = timer(0, every, scheduler).pipe(
      filter(() => !lives()),
      take(1),
      switchMap(() => status$),
      switchMap((status) =>
        of(readEnd(log, from)).pipe(
          envoyLines(scheduler),
          map(({ message }) => message),
          toArray(),
          map((lines) =>
            exitOf(
              status,
              lines.reduce<readonly string[]>(
                (tail, line) => withMessage(tail, line, tailLines),
                [],
              ),
              killsBefore,
            ),
          ),
        ),
      ),
      map((exit): ProcessEvent => ({ type: 'exited', exit })),
    );
    return merge(sent$, exited$).pipe(takeWhile(({ type }) => type !== 'exited', true));
  });
}

function send(pid: number, signal: Signal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

/** Returns the exit from a status of a shell, which reports a signal as 128 plus its number. */
function exitOf(
  status: number | undefined,
  tail: readonly string[],
  killsBefore: number | undefined,
): Exit {
  if (status === undefined) return { kind: 'unknown', tail };
  const signal = Object.entries(constants.signals).find(
    ([, number]) => number === status - 128,
  )?.[0] as NodeJS.Signals | undefined;
  return toExit(
    signal === undefined ? { exitCode: status } : { signal },
    tail,
    killsBefore,
    memory()?.oomKills,
  );
}

/**
 * Returns the exit code that is the target of a link of this user; an earlier version of the agent
 * wrote it to a file. If another user owns the path, or it is neither, there is no exit code. No
 * link is followed, and no FIFO is waited for.
 */
function statusIn(path: string): number | undefined {
  try {
    const stats = lstatSync(path);
    if (stats.uid !== process.geteuid?.()) return undefined;
    const text = /^(\d+)\n?$/.exec(stats.isSymbolicLink() ? readlinkSync(path) : textIn(path))?.[1];
    return text === undefined ? undefined : Number(text);
  } catch {
    return undefined;
  }
}

/** Returns the text of a short regular file. Throws for anything else. */
function textIn(path: string): string {
  const fd = openRegular(path);
  try {
    const bytes = Buffer.alloc(longestStatus);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a regular file. Follows no link, and waits for no FIFO. Throws if there is no regular file.
 */
function openRegular(path: string): number {
  const fd = openSync(
    path,
    fileConstants.O_RDONLY | fileConstants.O_NOFOLLOW | fileConstants.O_NONBLOCK,
  );
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a regular file`);
}

/**
 * Returns the last bytes of a file after `from`. If the file is shorter than `from`, it is another
 * file, and all of it counts.
 */
function readEnd(file: string, from: number): string {
  try {
    const fd = openRegular(file);
    try {
      const end = fstatSync(fd).size;
      const first = Math.max(end < from ? 0 : from, end - tailBytes);
      const bytes = Buffer.alloc(end - first);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, first));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
