// Why: docs/decisions/060-stdout-is-opened-again.md
import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Where lines go, opened. */
export interface LogTarget {
  readonly fd: number;
  readonly terminal: boolean;
  /** A regular file, which can be moved away. */
  readonly file: string | undefined;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Opens `stdout`, `stderr` or a file, which is made if it is not there (0644: whoever collects logs
 * is somebody else). Throws where nothing can be written to it.
 */
export function logTarget(name: string): LogTarget {
  const stream = streamOf(name);
  if (stream !== undefined)
    return { fd: withoutBlocking(stream), terminal: isatty(stream), file: undefined };
  const fd = openSync(name, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o644);
  return { fd, terminal: isatty(fd), file: fstatSync(fd).isFile() ? name : undefined };
}

/** The descriptor of a stream by its name; undefined for a file. Pure. */
export function streamOf(name: string): number | undefined {
  return new Map([
    ['stdout', 1],
    ['stderr', 2],
  ]).get(name.replace(/^\/dev\//, ''));
}

/**
 * The same stream, opened anew so that a full pipe or a stopped terminal does not block: the flag
 * is not shared with Envoy, which writes its access log there. A regular file never blocks, and has
 * to keep its one position; a socket can not be opened anew.
 */
function withoutBlocking(fd: number): number {
  try {
    const found = fstatSync(fd);
    if (!found.isFIFO() && !found.isCharacterDevice()) return fd;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}
