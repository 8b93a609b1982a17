import type { LogLine } from './log-line.ts';

/** Lines up to this many characters are written unchanged. */
const usual = 64 << 10;
/** The longest text in a longer line; JSON may write six characters for one of them. */
const longest = 8 << 10;
/** The most members of a list, and the most levels, in a longer line. */
const most = { members: 16, levels: 3 };

/**
 * Cuts the long texts and lists of a line, if the line is so long that a destination may drop it as
 * a whole: a line must report its event even if another program sent a text without an end. Pure.
 */
export function boundedLine(line: LogLine): LogLine {
  return isLonger(line, usual) ? (cut(line, 0) as LogLine) : line;
}

function isLonger(line: LogLine, limit: number): boolean {
  const open: unknown[] = [line];
  let size = 0;
  for (let value = open.pop(); value !== undefined || open.length > 0; value = open.pop()) {
    size += typeof value === 'string' ? value.length : 8;
    if (size > limit) return true;
    if (value instanceof Error) open.push(value.stack, value.message);
    if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) open.push(name, member);
  }
  return false;
}

function cut(value: unknown, level: number): unknown {
  if (typeof value === 'string')
    return value.length > longest
      ? `${value.slice(0, longest)}… (${value.length} characters)`
      : value;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return cut(value.stack ?? value.message, level);
  if (level === most.levels) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, most.members).map((member: unknown) => cut(member, level + 1));
    return value.length > most.members ? [...shown, `… (${value.length} members)`] : shown;
  }
  const members = Object.entries(value).slice(0, level === 0 ? Infinity : most.members);
  return Object.fromEntries(
    members.map(([name, member]) => [name.slice(0, longest), cut(member, level + 1)]),
  );
}
