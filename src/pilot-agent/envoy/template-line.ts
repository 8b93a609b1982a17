import type { TextPosition } from '../../shared/text/text-position.ts';

/**
 * Converts a place in a rendered text to the place in its template. A line is identified by its
 * text outside the variables, and by its rank among lines with the same text. In a line with
 * variables, the place is the start of the line; if no line matches, it is the start of the
 * template. Pure.
 */
export function templateLine(
  template: string,
  rendered: string,
  { line, column }: TextPosition,
): TextPosition {
  const lines = template.split('\n');
  const text = (rendered.split('\n')[line - 1] ?? '').trim();
  const alike = lines.flatMap((candidate, index) => (isMadeOf(candidate, text) ? [index] : []));
  const earlier = rendered.split('\n').slice(0, line - 1);
  const rank = earlier.filter((renderedLine) =>
    alike.some((index) => isMadeOf(lines[index] ?? '', renderedLine.trim())),
  ).length;
  const index = alike[Math.min(rank, alike.length - 1)];
  if (index === undefined) return { line: 1, column: 1 };
  const match = lines[index] ?? '';
  return { line: index + 1, column: match.includes('{{') ? match.search(/\S/) + 1 : column };
}

/**
 * Returns whether a text contains, in order, the parts of a template line between its variables.
 */
function isMadeOf(line: string, text: string): boolean {
  const [first = '', ...others] = line.trim().split(/\{\{[^}]*\}\}/);
  const last = others.pop();
  if (last === undefined) return text === first;
  let from = first.length;
  for (const part of others) {
    const start = text.indexOf(part, from);
    if (start < 0) return false;
    from = start + part.length;
  }
  return text.startsWith(first) && text.endsWith(last) && text.length - last.length >= from;
}
