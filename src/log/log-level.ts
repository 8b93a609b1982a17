/** From which level on lines are written; `none`: none at all. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'none';
