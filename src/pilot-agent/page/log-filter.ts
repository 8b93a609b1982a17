// Why: docs/decisions/084-small-features-stay.md
import type { LogReport } from '../report/live-events.ts';
import type { Logged } from './page-state.ts';

export const levels: readonly LogReport['level'][] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
];

export interface LogFilter {
  /** The lowest level that passes. */
  readonly level: LogReport['level'];
  /** '' for all. */
  readonly component: string;
  readonly epoch: number | undefined;
  /** A line must contain all of these words; case does not matter. */
  readonly text: string;
}

export const noFilter: LogFilter = { level: 'trace', component: '', epoch: undefined, text: '' };

/** The lines that pass a filter, and the range of lines that was searched. */
export interface Filtered {
  readonly filter: LogFilter;
  readonly lines: readonly Logged[];
  /** The id of the first line; 0 for no lines. */
  readonly from: number;
  readonly last: Logged | undefined;
}

export const unfiltered: Filtered = { filter: noFilter, lines: [], from: 0, last: undefined };

/**
 * Returns the lines of a log that pass a filter. If the filter is the same as before, searches only
 * the new lines. Pure.
 */
export function filtered(before: Filtered, log: readonly Logged[], filter: LogFilter): Filtered {
  const from = log[0]?.id ?? 0;
  const last = log.at(-1);
  const isSame = before.filter === filter;
  if (isSame && before.last === last && before.from === from) return before;
  const searched = isSame ? countUpTo(log, before.last) : 0;
  const added = log.slice(searched).filter(passing(filter));
  const kept =
    searched === 0
      ? []
      : before.from === from
        ? before.lines
        : before.lines.filter(({ id }) => id >= from);
  return { filter, from, last, lines: kept.length === 0 ? added : kept.concat(added) };
}

/**
 * Returns the number of lines up to this one; 0 if the log does not have it. The log of another
 * agent has other lines with the same ids. Pure.
 */
export function countUpTo(log: readonly Logged[], line: Logged | undefined): number {
  if (line === undefined) return 0;
  const count = firstAfter(log, line.id);
  return log[count - 1] === line ? count : 0;
}

function passing({ level, component, epoch, text }: LogFilter): (line: Logged) => boolean {
  const heard = new Set(levels.slice(levels.indexOf(level)));
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return (line) =>
    heard.has(line.level) &&
    (component === '' || line.component === component) &&
    (epoch === undefined || line.epoch === epoch) &&
    words.every((word) => line.text.includes(word));
}

/** Returns the index of the first line with a greater id; ids grow. Pure. */
export function firstAfter(log: readonly Logged[], id: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((log[middle]?.id ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
