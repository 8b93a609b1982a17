import type { TextPosition } from '../../shared/text/text-position.ts';

/**
 * The place in a template by that in what was made of it. A line is known by what it has besides
 * its variables, and by its rank among those that have the same; a place in a line that has
 * variables is its begin. Where no line is like it the place is the begin of the template. Pure.
 */
export function templateLine(
  template: string,
  made: string,
  { line, column }: TextPosition,
): TextPosition {
  const lines = template.split('\n');
  const text = (made.split('\n')[line - 1] ?? '').trim();
  const alike = lines.flatMap((one, index) => (isMadeOf(one, text) ? [index] : []));
  const earlier = made.split('\n').slice(0, line - 1);
  const rank = earlier.filter((one) =>
    alike.some((index) => isMadeOf(lines[index] ?? '', one.trim())),
  ).length;
  const index = alike[Math.min(rank, alike.length - 1)];
  if (index === undefined) return { line: 1, column: 1 };
  const found = lines[index] ?? '';
  return { line: index + 1, column: found.includes('{{') ? found.search(/\S/) + 1 : column };
}

/** Whether a text has what a line of the template has between its variables, in that order. */
function isMadeOf(line: string, text: string): boolean {
  const [first = '', ...others] = line.trim().split(/\{\{[^}]*\}\}/);
  const last = others.pop();
  if (last === undefined) return text === first;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.startsWith(first) && text.endsWith(last) && text.length - last.length >= from;
}
