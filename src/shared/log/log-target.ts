// Why: docs/decisions/060-stdout-is-opened-again.md
import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** An open target of lines. */
export interface LogTarget {
  readonly fd: number;
  readonly terminal: boolean;
  /** The path of a regular file, which can be moved away. */
  readonly file: string | undefined;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Opens `stdout`, `stderr` or a file, which is created if it does not exist (0644, because another
 * user may collect the logs). Throws if it cannot be written.
 */
export function logTarget(name: string): LogTarget {
  const stream = streamOf(name);
  if (stream !== undefined)
    return { fd: withoutBlocking(stream), terminal: isatty(stream), file: undefined };
  const fd = openSync(name, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o644);
  return { fd, terminal: isatty(fd), file: fstatSync(fd).isFile() ? name : undefined };
}

/** Returns the descriptor of a stream by its name; undefined for a file. Pure. */
export function streamOf(name: string): number | undefined {
  return new Map([
    ['stdout', 1],
    ['stderr', 2],
  ]).get(name.replace(/^\/dev\//, ''));
}

/**
 * Opens the same stream again, so that a write to a full pipe or a stopped terminal does not block.
 * The old descriptor stays as it is for Envoy, which writes its access log there. A regular file
 * never blocks, and must keep its one position; a socket cannot be opened again.
 */
function withoutBlocking(fd: number): number {
  try {
    const stats = fstatSync(fd);
    if (!stats.isFIFO() && !stats.isCharacterDevice()) return fd;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}
