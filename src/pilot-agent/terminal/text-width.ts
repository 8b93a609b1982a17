import { stripVTControlCharacters } from 'node:util';
import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { printable } from '../../shared/log/printable.ts';

/**
 * A text of others as one line: what a terminal would act on is escaped, and what breaks a line or
 * widens it by a tab is a space. Pure.
 */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** How many columns of a terminal a text takes. Styles take none. Pure. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** As much of the beginning of a text as fits into `width` columns, with `…` at a cut. Pure. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? '' : `${sliceAnsi(text, 0, width - 1)}…`;
}

/** The same where the end of a text says most, as of a path: it is cut in its first half. Pure. */
export function cutInside(text: string, width: number): string {
  const all = widthOf(text);
  if (all <= width || width < 4) return cut(text, width);
  const head = Math.floor((width - 1) / 3);
  return `${sliceAnsi(text, 0, head)}…${sliceAnsi(text, all - (width - 1 - head))}`;
}

/**
 * A text in as many lines of at most `width` columns as it takes, broken between words where that
 * leaves no line half empty. Pure.
 */
export function wrapped(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  const all = widthOf(text);
  const lines: string[] = [];
  for (let at = 0; at < all;) {
    const rest = sliceAnsi(text, at);
    const taken = widthOf(rest) <= room ? rest : broken(rest, room);
    lines.push(sliceAnsi(taken, 0, widthOf(stripVTControlCharacters(taken).trimEnd())));
    at += Math.max(1, widthOf(taken));
  }
  return lines.length === 0 ? [''] : lines;
}

/** The beginning of a text that is too long for a line, with the space after its last word. */
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

/** The text in exactly `width` columns: cut, or filled up with spaces on its right. Pure. */
export function fitted(text: string, width: number): string {
  const shown = cut(text, width);
  return `${shown}${' '.repeat(Math.max(0, width - widthOf(shown)))}`;
}

/** The same with the spaces on its left. Pure. */
export function fittedRight(text: string, width: number): string {
  const shown = cut(text, width);
  return `${' '.repeat(Math.max(0, width - widthOf(shown)))}${shown}`;
}

/** Two texts at the two ends of a line. The left one gives way, and goes first. Pure. */
export function apart(left: string, right: string, width: number): string {
  const space = width - widthOf(right);
  return space < 1 ? cut(left, width) : `${fitted(cut(left, space - 1), space)}${right}`;
}
