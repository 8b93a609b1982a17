import type { LogLevel, LogLine } from './log-line.ts';
import type { AgentLog } from './open-log.ts';
import { seeAlso } from './see-also.ts';

/** The lowest first. */
const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'none'];

/**
 * Returns a log that passes its lines to a function, at once and in their order. Ignores the
 * function's exceptions. As with {@link AgentLog}, a level does not apply to Envoy's lines.
 */
export function logFunction(write: (line: LogLine) => void, first: LogLevel): AgentLog {
  let lowest = first;
  return {
    write: (line) => {
      if (line.event !== 'envoy.log' && levels.indexOf(line.level) < levels.indexOf(lowest)) return;
      const see = seeAlso(line);
      try {
        write(see === undefined ? line : { ...line, see });
      } catch {
        // A log that fails does not end the agent.
      }
    },
    level: (wanted) => void (lowest = wanted),
    open: () => undefined,
    reopen: () => undefined,
    close: () => Promise.resolve(),
  };
}
