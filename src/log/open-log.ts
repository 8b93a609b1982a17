import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';

export interface AgentLog {
  readonly logger: Logger;
  /** Resolves when all is written that can be, within a second. */
  close(): Promise<void>;
}

/** How much may wait for a slow reader. In bytes. */
const most = 1 << 20;
/** In ms. */
const patience = 1_000;

/**
 * The log on a descriptor: readable text on a terminal, otherwise a JSON object a line.
 *
 * Writing never blocks the agent: what a slow reader leaves waiting beyond 1 MiB is dropped, counted, and said when there is room again.
 */
export async function openLog(fd: number, level: string): Promise<AgentLog> {
  const destination = pino.destination({ fd: withoutBlocking(fd), sync: false, maxLength: most });
  const terminal = isatty(fd);
  const options = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  const logger = terminal
    ? pino({ level, base: null }, (await import('./terminal-lines.ts')).terminalLines(destination))
    : pino({ ...options, timestamp: () => `,"time":"${new Date().toISOString()}"` }, destination);

  let dropped = 0;
  destination.on('drop', () => (dropped += 1));
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    logger.warn({ component: 'agent', lines }, 'log lines were dropped: the reader is too slow');
  });
  destination.on('error', () => undefined); // a reader that is gone is no reason to end

  return {
    logger,
    close: () =>
      new Promise((resolve) => {
        const done = () => resolve();
        destination.once('close', done).end();
        // Destroyed, it does not try to flush when the process exits, which a reader that does not read would keep waiting for ever.
        AbortSignal.timeout(patience).addEventListener('abort', () => destination.destroy());
      }),
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
