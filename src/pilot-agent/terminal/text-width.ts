import { stripVTControlCharacters } from 'node:util';
import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { printable } from '../../shared/log/printable.ts';

/**
 * Makes one line of a text from outside: escapes what a terminal would act on, and replaces line
 * breaks and tabs by spaces. Pure.
 */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** Returns how many columns of a terminal a text takes. Styles take none. Pure. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Returns the beginning of a text that fits into `width` columns, with `…` at a cut. Pure. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? '' : `${sliceAnsi(text, 0, width - 1)}…`;
}

/**
 * Fits a text into `width` columns as {@link cut} does, but removes a part of its first half: for
 * texts whose end matters most, such as paths. Pure.
 */
export function cutInside(text: string, width: number): string {
  const total = widthOf(text);
  if (total <= width || width < 4) return cut(text, width);
  const head = Math.floor((width - 1) / 3);
  return `${sliceAnsi(text, 0, head)}…${sliceAnsi(text, total - (width - 1 - head))}`;
}

/**
 * Breaks a text into lines of at most `width` columns, between words if that leaves no line half
 * empty. Pure.
 */
export function wrapped(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  const total = widthOf(text);
  const lines: string[] = [];
  for (let start = 0; start < total;) {
    const rest = sliceAnsi(text, start);
    const piece = widthOf(rest) <= room ? rest : broken(rest, room);
    lines.push(sliceAnsi(piece, 0, widthOf(stripVTControlCharacters(piece).trimEnd())));
    start += Math.max(1, widthOf(piece));
  }
  return lines.length === 0 ? [''] : lines;
}

/**
 * Returns the beginning of a text that is too long for a line, with the space after its last word.
 */
function broken(text: string, room: number): string {
  const fits =
    [room, room - 1]
      .map((end) => sliceAnsi(text, 0, end))
      .find((piece) => widthOf(piece) <= room) ?? '';
  const [upToSpace = ''] =
    /^.* /s.exec(
      stripVTControlCharacters(`${fits}${sliceAnsi(text, widthOf(fits), widthOf(fits) + 1)}`),
    ) ?? [];
  return widthOf(upToSpace) * 2 > room ? sliceAnsi(text, 0, widthOf(upToSpace)) : fits;
}

/** Returns a text in exactly `width` columns: cut, or filled up with spaces on the right. Pure. */
export function fitted(text: string, width: number): string {
  const shown = cut(text, width);
  return `${shown}${' '.repeat(Math.max(0, width - widthOf(shown)))}`;
}

/** Returns a text in exactly `width` columns, with spaces on the left. Pure. */
export function fittedRight(text: string, width: number): string {
  const shown = cut(text, width);
  return `${' '.repeat(Math.max(0, width - widthOf(shown)))}${shown}`;
}

/**
 * Puts two texts at the two ends of a line, and cuts the left one if needed. If the right one alone
 * fills the line, it is left out. Pure.
 */
export function apart(left: string, right: string, width: number): string {
  const space = width - widthOf(right);
  return space < 1 ? cut(left, width) : `${fitted(cut(left, space - 1), space)}${right}`;
}
