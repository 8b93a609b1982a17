import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { LogLine } from './log-line.ts';

export interface AgentLog {
  /** Never blocks, never throws. */
  write(line: LogLine): void;
  /** Begins to put lines out; until then they wait. */
  open(): void;
  /** Resolves when all is written that can be, within a second. */
  close(): Promise<void>;
}

/**
 * The log on a descriptor: readable text on a terminal, otherwise a JSON object a line.
 *
 * What a slow reader leaves waiting beyond 1 MiB is dropped, counted, and said when there is room again. The logger is loaded when the log is
 * opened, so that Envoy need not wait for it.
 */
export function openLog(fd: number): AgentLog {
  const early: LogLine[] = [];
  let write = (line: LogLine): void => void early.push(line);
  let opened: Promise<() => Promise<void>> | undefined;

  const open = () =>
    (opened ??= import('./pino-log.ts').then(async ({ pinoLog }) => {
      const log = await pinoLog(withoutBlocking(fd), isatty(fd));
      write = log.write;
      for (const line of early.splice(0)) write(line);
      return log.close;
    }));

  return {
    write: (line) => write(line),
    open: () => void open(),
    close: async () => (await open())(),
  };
}

/**
 * The same stream, opened anew so that a full pipe or a stopped terminal does not block: the flag is not shared with Envoy, which writes its
 * access log there. A regular file never blocks, and has to keep its one position; a socket can not be opened anew.
 */
function withoutBlocking(fd: number): number {
  try {
    const found = fstatSync(fd);
    if (!found.isFIFO() && !found.isCharacterDevice()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
