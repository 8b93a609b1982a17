import type { LogLine } from './log-line.ts';

/** The page that says what to do, as a path in the package. */
const page = 'docs/troubleshooting.md';

/** Returns the place of a heading on that page. Pure. */
export function troubleshooting(words: string): string {
  return `${page}#${words.replace(/[._ ]/g, '-')}`;
}

/**
 * Returns the place that says what to do about a line of the log; undefined for a line that is
 * neither a warning nor an error, and for a line of Envoy. Pure.
 */
export function seeAlso({ level, event }: Pick<LogLine, 'level' | 'event'>): string | undefined {
  return (level === 'warn' || level === 'error') && event !== 'envoy.log'
    ? troubleshooting(event)
    : undefined;
}
