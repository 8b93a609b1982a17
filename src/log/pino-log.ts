import { pino } from 'pino';
import type { LogLine } from './log-line.ts';

/** How much may wait for a slow reader. In bytes. */
const most = 1 << 20;
/** In ms. */
const patience = 1_000;

/** Writes lines to a descriptor as pino does: for a person on a terminal, otherwise as JSON. See `openLog` for what it promises. */
export async function pinoLog(fd: number, terminal: boolean): Promise<{ write: (line: LogLine) => void; close: () => Promise<void> }> {
  const destination = pino.destination({ fd, sync: false, maxLength: most });
  const logger = terminal
    ? pino({ level: 'trace', base: null }, (await import('./terminal-lines.ts')).terminalLines(destination))
    : pino(
        {
          level: 'trace',
          base: null,
          formatters: { level: (label) => ({ level: label }) },
          timestamp: pino.stdTimeFunctions.isoTime,
        },
        destination,
      );
  const write = ({ level, msg, ...fields }: LogLine) => logger[level](fields, msg);

  let dropped = 0;
  destination.on('drop', () => (dropped += 1));
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    write({ level: 'warn', msg: 'log lines were dropped: the reader is too slow', component: 'agent', lines });
  });
  destination.on('error', () => undefined); // a reader that is gone is no reason to end

  const close = () =>
    new Promise<void>((resolve) => {
      destination.once('close', () => resolve()).end();
      // Destroyed, it does not try to flush when the process exits, which a reader that does not read would keep waiting for ever.
      AbortSignal.timeout(patience).addEventListener('abort', () => destination.destroy());
    });
  return { write, close };
}
