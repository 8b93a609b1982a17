import type { LogEvent } from './log-event.ts';

/** One line of the log. `msg` is a constant; what varies is in the fields. */
export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly event: LogEvent;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** From which level on lines are written; `none`: none at all. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'none';
