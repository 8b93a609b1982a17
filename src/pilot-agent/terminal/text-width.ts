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
 * empty. The time grows with the length of the text. Pure.
 */
export function wrapped(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  if (widthOf(text) <= room) return [text];
  const characters = charactersOf(text);
  const lines: string[] = [];
  for (let start = 0; start < characters.length;) {
    const end = lineEnd(characters, start, room);
    lines.push(lineOf(characters.slice(start, end)));
    start = end;
  }
  return lines;
}

interface Character {
  readonly text: string;
  readonly width: number;
  /** The codes of all styles that begin or end before it. */
  readonly codes: string;
}

const codesOfStyles = /(\x1b\[[\d;]*m)/;
const segmenter = new Intl.Segmenter();

function charactersOf(text: string): readonly Character[] {
  let codes = '';
  return text.split(codesOfStyles).flatMap((part, index) => {
    if (index % 2 === 0)
      return Array.from(segmenter.segment(part), ({ segment }) => {
        return { text: segment, width: widthOf(segment), codes };
      });
    codes += part;
    return [];
  });
}

/** Returns the index after a line. A space after its last word belongs to the line. */
function lineEnd(characters: readonly Character[], start: number, room: number): number {
  let [end, columns, afterWord] = [start, 0, start];
  for (; end < characters.length; end += 1) {
    const character = characters[end];
    const isSpace = character?.text === ' ';
    if (isSpace && (columns + 1) * 2 > room) afterWord = end + 1;
    columns += character?.width ?? 0;
    if (columns > room) return afterWord > start ? afterWord : Math.max(end, start + 1);
  }
  return end;
}

/** Returns a line without spaces at its end. It begins with the styles that are in force. */
function lineOf(characters: readonly Character[]): string {
  const count = characters.findLastIndex(({ text }) => text.trim() !== '') + 1;
  const shown = characters.slice(0, count);
  if ((shown.at(-1)?.codes ?? '') === '') return shown.map(({ text }) => text).join('');
  const styled = shown.map(
    ({ text, codes }, index) => codes.slice(shown[index - 1]?.codes.length ?? 0) + text,
  );
  return sliceAnsi(styled.join(''), 0);
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
