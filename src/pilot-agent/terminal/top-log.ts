import type { LogReport } from '../report/live-events.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { oneLine, wrapped } from './text-width.ts';
import type { TopState } from './top-model.ts';

const ranks: Readonly<Record<LogReport['level'], number>> = {
  trace: 0,
  debug: 1,
  info: 2,
  warn: 3,
  error: 4,
  fatal: 5,
};
/** The column at which the text of a line begins. */
const textAt = 19;
const styles = {
  trace: 'dim',
  debug: 'dim',
  info: 'cyan',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const;

/** Writes the heading of the log, and its newest matching lines; at most `height` lines. Pure. */
export function topLog(state: TopState, height: number, paint: Paint): readonly string[] {
  const { level, selected, filter } = state;
  const wanted = [
    `${level} and above`,
    ...(selected === undefined ? [] : [`epoch ${selected}`]),
    ...(filter === '' ? [] : [`/${oneLine(filter)}`]),
  ];
  const heading = `${paint('bold', 'LOG')}  ${paint('dim', wanted.join(', '))}`;
  const room = Math.max(0, height - 1);
  const width = state.long === 'cut' ? Infinity : state.size.width - textAt;
  // From the newest on, because one long line may fill the screen.
  const lines = newest(state, room).reduceRight<readonly string[]>(
    (after, line) => (after.length < room ? [...logLines(line, width, paint), ...after] : after),
    [],
  );
  return [heading, ...lines.slice(Math.max(0, lines.length - room))].slice(0, Math.max(0, height));
}

/** Returns the newest `count` matching lines, oldest first. */
function newest(
  { log = [], level, selected, filter }: TopState,
  count: number,
): readonly LogReport[] {
  const matching: LogReport[] = [];
  for (let index = log.length - 1; index >= 0 && matching.length < count; index--) {
    const line = log[index];
    if (line === undefined || ranks[line.level] < ranks[level]) continue;
    if (selected !== undefined && line.epoch !== selected) continue;
    if (filter !== '' && !textOf(line).toLowerCase().includes(filter.toLowerCase())) continue;
    matching.push(line);
  }
  return matching.reverse();
}

/** Writes a line of the log, with its text in lines of at most `width` columns. Pure. */
function logLines(line: LogReport, width: number, paint: Paint): readonly string[] {
  const { at: loggedAt, level } = line;
  const head = `${paint('dim', loggedAt.slice(11, 23))} ${paint(styles[level], level.padEnd(5))} `;
  return wrapped(oneLine(textOf(line)), width).map(
    (text, index) => `${index === 0 ? head : ' '.repeat(textAt)}${text}`,
  );
}

/** Returns the text of a line, with its component and epoch. */
function textOf({ component, epoch, msg, fields }: LogReport): string {
  const more = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `[${component}${epoch === undefined ? '' : ` epoch ${epoch}`}] ${msg}${more.join('')}`;
}
