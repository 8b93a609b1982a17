import { looksSecret } from '../config/looks-secret.ts';
import type { TextPosition } from '../../shared/text/text-position.ts';
import { printable } from '../../shared/log/printable.ts';

/** In columns, including the line number. */
const widest = 78;
/** The columns that are shown before the place. */
const before = 30;
const hidden =
  /inline_(?:string|bytes)|private_?key|passw|token|secret|authorization|credential|api_?key|cookie/i;

/**
 * Returns the line of a text at a place, with a caret below it. Undefined if there is no such line,
 * or if the line may contain a secret. Pure.
 */
export function excerpt(text: string, { line, column }: TextPosition): string | undefined {
  const whole = text.split('\n')[line - 1];
  if (
    whole === undefined ||
    column > whole.length + 1 ||
    hidden.test(whole) ||
    whole.split(/["'\s,{}[\]]+/).some((word) => looksSecret('', word))
  )
    return undefined;
  const number = String(line);
  const room = widest - number.length - 4;
  const from = whole.length <= room || column + before <= room ? 0 : column - 1 - before;
  const shown = printable(whole.slice(from, from + room).replaceAll('\t', ' '));
  const [marked = ''] =
    /^(?:"[^"]*"|'[^']*'|[^\s,:\]}]+)/.exec(whole.slice(column - 1, from + room)) ?? [];
  const caret = '^'.repeat(Math.max(1, marked.length));
  return `${number} | ${shown.trimEnd()}\n${' '.repeat(number.length)} | ${' '.repeat(column - 1 - from)}${caret}`;
}
