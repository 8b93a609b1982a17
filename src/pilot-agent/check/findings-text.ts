import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import type { Paint } from '../../shared/log/paint.ts';
import type { Finding, Level } from './finding.ts';

const marks = { ok: '√', warn: '‼', fail: '×' } as const;
const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** In columns. On a narrower terminal, the terminal breaks the lines. */
const narrowest = 20;

export interface TextOptions {
  /** In columns; if it is infinite, no line is broken. */
  readonly width: number;
  readonly paint: Paint;
}

/**
 * Writes findings as text for a person: a heading, one paragraph for each finding, and the number
 * of findings of each level. Pure.
 */
export function findingsText(
  heading: string,
  findings: readonly Finding[],
  { width, paint }: TextOptions,
): string {
  const column = Math.max(...findings.map(({ check }) => check.length)) + 2;
  const indent = ' '.repeat(column + 2);
  const paragraphs = findings.flatMap(({ check, level, what, fix, see }, index) => {
    const name = findings[index - 1]?.check === check ? '' : check;
    const lines = (text: string, style?: 'bold' | 'dim') =>
      broken(text, Math.max(width - indent.length, narrowest)).map((line) =>
        style === undefined ? line : paint(style, line),
      );
    const [first = '', ...rest] = lines(what);
    const more = [
      ...rest,
      ...(fix === undefined ? [] : lines(`→ ${fix}`, 'bold')),
      ...(see === undefined ? [] : lines(see, 'dim')),
    ];
    return [
      `${paint(styles[level], marks[level])} ${name.padEnd(column)}${first}`,
      ...more.map((line) => `${indent}${line}`),
    ];
  });
  return [...broken(heading, width), '', ...paragraphs, '', summary(findings)].join('\n');
}

/** Returns the number of findings of each level that occurs. Pure. */
function summary(findings: readonly Finding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [failures, warnings, good] = [count('fail'), count('warn'), count('ok')];
  const counted = (number: number, word: string) =>
    number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`];
  return [
    ...counted(failures, 'failure'),
    ...counted(warnings, 'warning'),
    `${good} in order`,
  ].join(', ');
}

/**
 * Breaks a text into lines of at most `width` columns, at spaces, and inside words that are longer.
 */
function broken(text: string, width: number): readonly string[] {
  return text
    .split(' ')
    .flatMap((word) => pieces(word, width))
    .reduce<readonly string[]>((lines, word) => {
      const longer = `${lines.at(-1) ?? ''} ${word}`;
      return lines.length > 0 && stringWidth(longer) <= width
        ? [...lines.slice(0, -1), longer]
        : [...lines, word];
    }, []);
}

function pieces(word: string, width: number): readonly string[] {
  if (stringWidth(word) <= width) return [word];
  const first = sliceAnsi(word, 0, width - 1); // the last character may be two columns wide
  return [first, ...pieces(sliceAnsi(word, stringWidth(first)), width)];
}
