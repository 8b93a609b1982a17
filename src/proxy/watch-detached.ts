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
  /** Of that process; undefined if it had ended before it could be looked at. */
  readonly startTime: string | undefined;
  /** Into this file its keeper writes what it has ended with. */
  readonly ended: string;
  /** Where its log goes. */
  readonly log: string;
  /** How long that was before, in bytes: what is there is not its own. */
  readonly from: number;
  /** Is called before it is told to open its log anew. */
  readonly reopening: () => void;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/** Between two looks at a process that is nobody's child. In ms. */
const every = 100;
/** How long its keeper may take to write down its end, and between two looks for that. In ms. */
const timeoutMs = 1_000;
const again = 10;
/** Of the end of the log so much is read for its last lines. */
const tailBytes = 65_536;
const tailLines = 20;
/** In bytes. */
const longestStatus = 8;

/**
 * Looks after an Envoy that is no child of this process: passes signals on to it, emits its end,
 * and completes. Cold; never errors. Unsubscribing leaves it alone.
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
    const told$ = defer(() => of(statusIn(ended))).pipe(
      pollUntil((status) => status !== undefined, { every: again, limit: timeoutMs }, scheduler),
      takeLast(1),
    );
    const exited$ = timer(0, every, scheduler).pipe(
      filter(() => !lives()),
      take(1),
      switchMap(() => told$),
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
    // It has ended in this moment.
  }
}

/** A shell tells of a signal by 128 and its number. */
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
 * The exit code that a link of this user's leads to. An earlier agent has it in a file. Whatever
 * else is there was put there by others, and is neither followed nor waited for.
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

/** A regular file that is short. Throws for anything else. */
function textIn(path: string): string {
  const fd = openRegular(path);
  try {
    const bytes = Buffer.alloc(longestStatus);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

/** Follows no link, and waits for no FIFO. Throws where no regular file is. */
function openRegular(path: string): number {
  const fd = openSync(
    path,
    fileConstants.O_RDONLY | fileConstants.O_NOFOLLOW | fileConstants.O_NONBLOCK,
  );
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is no regular file`);
}

/**
 * The last bytes of a file behind `from`, or of all of it where it is shorter than that: it is
 * another one then.
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
