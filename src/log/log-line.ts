/** One line of the log. `msg` is a constant; what varies is in the fields. */
export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly [field: string]: unknown;
}
