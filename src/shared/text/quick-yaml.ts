// Why: docs/decisions/078-good-yaml-has-a-quick-parser.md
import {
  codes,
  inKey,
  isOther,
  plainScalar,
  quotedScalar,
  setOf,
  unsure,
  type Unsure,
} from './quick-scalar.ts';

/** What a document says, and on which line. Where nothing is said: null, line 1. */
export interface QuickYaml {
  readonly value: unknown;
  readonly line: number;
}

/** It is read without a pause. */
const longestText = 64 << 10;
/** Less than any reader bounds, so that whatever is read here is within its bound. */
const mostLevels = 32;
/** Characters of a key: YAML allows 1,024 of one that is not announced by `?`. */
const longestKey = 256;

const [newLine, space, doubleQuote, hash, singleQuote, comma, dash, dot, colon] =
  codes('\n "#\',-.:');
const [openList, backslash, closeList, openMap, closeMap] = codes('[\\]{}');
const keyStart = setOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_');
/** Of a scalar without quotes among brackets. */
const inFlow = setOf(' ~^$@%+*()<>;=!?&|', inKey);

const readable = /^[\n\x20-\x7e]*$/;
const begin = /^---[ ]*(?:\n|$)/;

/**
 * Reads one document in the part of YAML that nearly all resources are written in, ten times as
 * fast as the package `yaml`. Undefined for a text that is not surely in that part, or is wrong:
 * that package knows the rest, and the place of each value. What comes out is what it says. Pure.
 */
export function quickYaml(text: string): QuickYaml | undefined {
  if (text.length > longestText || !readable.test(text)) return undefined;
  const { length } = text;
  let at = 0;
  let lineStart = 0;
  let column = -1; // of the first sign of this line; -1 after the last line

  const codeAt = (place: number): number => text.charCodeAt(place);
  /** Whether a key, or a dash, ends here. */
  const isEnd = (place: number): boolean =>
    place >= length || codeAt(place) === space || codeAt(place) === newLine;
  const isItem = (): boolean => codeAt(at) === dash && isEnd(at + 1);

  const skipSpaces = (): void => {
    while (codeAt(at) === space) at += 1;
  };

  /** To the first sign that is in no comment, from the start of a line. */
  const toLine = (start: number): void => {
    for (lineStart = start; lineStart < length;) {
      at = lineStart;
      skipSpaces();
      column = at - lineStart;
      if (at < length && codeAt(at) !== newLine && codeAt(at) !== hash) return;
      lineStart = afterLine(at);
    }
    [at, column] = [length, -1];
  };

  const afterLine = (from: number): number => {
    const end = text.indexOf('\n', from);
    return end === -1 ? length : end + 1;
  };

  /** Past what may be behind a value: nothing, or a comment. */
  const endLine = (): boolean => {
    const before = at;
    skipSpaces();
    if (at < length && codeAt(at) !== newLine && (codeAt(at) !== hash || at === before))
      return false;
    toLine(afterLine(at));
    return true;
  };

  const quoted = (): string | Unsure => {
    const sign = codeAt(at);
    const from = at + 1;
    if (sign === singleQuote) {
      for (at = from; ; at += 2) {
        at = text.indexOf("'", at);
        if (at === -1) return unsure;
        if (codeAt(at + 1) !== singleQuote) break;
      }
    } else {
      for (at = from; codeAt(at) !== doubleQuote; at += 1) {
        if (codeAt(at) === backslash) at += 1;
        if (at >= length) return unsure;
      }
    }
    const inner = text.slice(from, at);
    at += 1;
    return quotedScalar(inner, sign === singleQuote ? 'single' : 'double');
  };

  /** The key that begins here, past its colon; undefined where there is none. */
  const keyHere = (within: 'flow' | 'block'): string | undefined | Unsure => {
    const from = at;
    const first = codeAt(at);
    const isQuoted = first === doubleQuote || first === singleQuote;
    let key: string | Unsure;
    if (isQuoted) key = quoted();
    else {
      if (keyStart[first] !== 1) return undefined;
      while (inKey[codeAt(at)] === 1) at += 1;
      key = text.slice(from, at);
    }
    if (codeAt(at) !== colon || !(isEnd(at + 1) || (within === 'flow' && isQuoted))) {
      at = from;
      return key === unsure ? unsure : undefined;
    }
    at += 1;
    const isOdd =
      key === unsure ||
      key.length > longestKey ||
      key === '__proto__' ||
      (!isQuoted && isOther(key));
    return isOdd ? unsure : key;
  };

  const plain = (): unknown => {
    const from = at;
    for (; at < length && codeAt(at) !== newLine; at += 1) {
      const code = codeAt(at);
      if (code === colon && isEnd(at + 1)) return unsure;
      if (code === hash && codeAt(at - 1) === space) break;
    }
    return textFrom(from);
  };

  const plainInFlow = (): unknown => {
    const from = at;
    while (inFlow[codeAt(at)] === 1 || (codeAt(at) === colon && inKey[codeAt(at + 1)] === 1))
      at += 1;
    return textFrom(from);
  };

  const textFrom = (from: number): unknown => {
    while (at > from && codeAt(at - 1) === space) at -= 1;
    return plainScalar(text.slice(from, at));
  };

  /** Blanks among brackets: further lines are to the right of the block around them. */
  const skipBlanks = (around: number): boolean => {
    skipSpaces();
    if (codeAt(at) !== newLine) return true;
    while (codeAt(at) === newLine) {
      lineStart = at + 1;
      at = lineStart;
      skipSpaces();
    }
    return at - lineStart > around && (at > lineStart || codeAt(at) !== dot); // '...' ends a document
  };

  /** All entries up to a bracket; `take` reads one. */
  const entries = (close: number | undefined, around: number, take: () => boolean): boolean => {
    at += 1;
    if (!skipBlanks(around)) return false;
    for (let isMore = codeAt(at) !== close; isMore;) {
      if (!take() || !skipBlanks(around)) return false;
      isMore = codeAt(at) === comma;
      if (isMore) at += 1;
      else if (codeAt(at) !== close) return false;
      if (isMore && !skipBlanks(around)) return false;
    }
    at += 1;
    return true;
  };

  const listInFlow = (around: number, level: number): unknown => {
    const made: unknown[] = [];
    const take = () => made.push(inLine(around, level, plainInFlow)) > 0 && made.at(-1) !== unsure;
    return entries(closeList, around, take) ? made : unsure;
  };

  const mapInFlow = (around: number, level: number): unknown => {
    const made: Record<string, unknown> = {};
    const take = () => {
      const key = keyHere('flow');
      if (key === undefined || key === unsure || !skipBlanks(around)) return false;
      const value = inLine(around, level, plainInFlow);
      return value !== unsure && put(made, key, value);
    };
    return entries(closeMap, around, take) ? made : unsure;
  };

  const inLine = (around: number, level: number, plainText: () => unknown): unknown => {
    const first = codeAt(at);
    if (first === doubleQuote || first === singleQuote) return quoted();
    if (level >= mostLevels) return unsure;
    if (first === openMap) return mapInFlow(around, level + 1);
    return first === openList ? listInFlow(around, level + 1) : plainText();
  };

  /** A value behind a dash or a key, to the end of its line. */
  const value = (around: number, level: number): unknown => {
    const found = inLine(around, level, plain);
    return found !== unsure && endLine() && column <= around ? found : unsure;
  };

  const map = (around: number, level: number): unknown => {
    const made: Record<string, unknown> = {};
    if (level >= mostLevels) return unsure;
    do {
      const key = keyHere('block');
      if (key === undefined || key === unsure) return unsure;
      skipSpaces();
      const isBare = at >= length || codeAt(at) === newLine || codeAt(at) === hash;
      const found = isBare ? below(around, level + 1) : value(around, level + 1);
      if (found === unsure || !put(made, key, found)) return unsure;
    } while (column === around);
    return column < around ? made : unsure;
  };

  /** The value of a key with nothing behind it. */
  const below = (around: number, level: number): unknown => {
    toLine(afterLine(at));
    if (column > around) return isItem() ? list(column, level) : map(column, level);
    return column === around && isItem() ? list(around, level) : null;
  };

  const list = (around: number, level: number): unknown => {
    const made: unknown[] = [];
    if (level >= mostLevels) return unsure;
    do {
      at += 1;
      skipSpaces();
      const from = at;
      const key = keyHere('block');
      at = from;
      column = at - lineStart;
      const found =
        key === unsure
          ? unsure
          : key === undefined
            ? value(around, level + 1)
            : map(column, level + 1);
      if (found === unsure) return unsure;
      made.push(found);
    } while (column === around && isItem());
    return column <= around ? made : unsure;
  };

  toLine(begin.exec(text)?.[0].length ?? 0);
  if (column === -1) return { value: null, line: 1 };
  const line = text.slice(0, at).split('\n').length;
  const isFlow = codeAt(at) === openMap;
  const root = column > 0 ? unsure : isFlow ? inLine(-1, 0, plain) : map(0, 0);
  if (root === unsure || (isFlow && !endLine()) || column !== -1) return undefined;
  return { value: root, line };
}

/** Whether a map had no such key before. None of them is `__proto__`. */
function put(made: Record<string, unknown>, key: string, value: unknown): boolean {
  if (!Object.hasOwn(made, key)) {
    made[key] = value;
    return true;
  }
  return false;
}
