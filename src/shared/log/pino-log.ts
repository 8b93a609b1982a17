// Why: docs/decisions/060-stdout-is-opened-again.md
import { pino } from 'pino';
import { boundedLine } from './bounded-line.ts';
import { isRefusal } from './envoy-refusal.ts';
import { line, type LogLevel, type LogLine } from './log-line.ts';
import { printableJson } from './printable.ts';
import { seeAlso } from './see-also.ts';
/** The most text that waits for a slow reader. In bytes. */
const most = 1 << 20;
/** In ms. */
const timeoutMs = 1_000;

/** A log that pino writes. Its functions work as those of `AgentLog`. */
export interface PinoLog {
  write(line: LogLine): void;
  level(level: LogLevel): void;
  /** Closes the descriptor too, except stdout and stderr. */
  close(): Promise<void>;
}

/**
 * Writes lines to a descriptor by pino: for a person on a terminal, otherwise as JSON. Writes all
 * levels until another level is set.
 */
export async function pinoLog(
  fd: number,
  terminal: boolean,
  component: 'agent' | 'discovery',
): Promise<PinoLog> {
  const destination = pino.destination({ fd, sync: false, maxLength: most });
  // With a flushSync pino would wait for the reader after a line of the level fatal.
  const stream = { write: (text: string) => destination.write(printableJson(text)) };
  const rootLogger = terminal
    ? pino(
        { level: 'trace', base: null },
        (await import('./terminal-lines.ts')).terminalLines(destination),
      )
    : pino(
        {
          level: 'trace',
          base: null,
          formatters: { level: (label) => ({ level: label }) },
          timestamp: pino.stdTimeFunctions.isoTime,
        },
        stream,
      );
  const agentLogger = rootLogger.child({});
  const write = (long: LogLine) => {
    const line = boundedLine(long);
    const { level, msg, ...fields } = line;
    // The agent's level does not apply to Envoy's lines, which Envoy has filtered by its own. It
    // does apply to a refusal, because the agent reports that itself.
    const logger =
      String(fields['component']).startsWith('envoy.') && !isRefusal(msg)
        ? rootLogger
        : agentLogger;
    const see = seeAlso(line);
    logger[level](see === undefined ? fields : { ...fields, see }, msg);
  };

  let dropped = 0;
  destination.on('drop', () => (dropped += 1));
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    write(line('log.dropped', { component, lines }));
  });
  destination.on('error', () => undefined); // a reader that is gone is not a reason to end

  return {
    write,
    level: (level) => void (agentLogger.level = level === 'none' ? 'silent' : level),
    close: () =>
      new Promise((resolve) => {
        destination.once('close', () => resolve()).end();
        // A destroyed destination does not try to flush when the process exits. A reader that does
        // not read would delay the exit forever.
        AbortSignal.timeout(timeoutMs).addEventListener('abort', () => destination.destroy());
      }),
  };
}
