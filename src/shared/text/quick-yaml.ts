// Why: docs/decisions/078-good-yaml-has-a-quick-parser.md
import { QuickCursor } from './quick-cursor.ts';
import { codes, unsure } from './quick-scalar.ts';
import { stepsOf } from './field-steps.ts';

/** The value of a document, and the lines of its fields. An empty document is null on line 1. */
export interface QuickYaml {
  readonly value: unknown;
  /** The line on which the value begins, from 1. */
  readonly line: number;
  /**
   * Returns the line of a field such as `spec.http[0].route`, or if it is missing, the line of the
   * nearest field that contains it.
   */
  readonly lineOf: (field: string) => number;
}

/** Every reader allows more levels than these, so a text that is read here is allowed. */
const mostLevels = 32;

const [comma, openList, closeList, openMap, closeMap] = codes(',[]{}');

/** A text without tabs, control characters or a byte order mark, whose lines all end with \n. */
const readable =
  /^[\n\x20-\x7e\u00a1-\u2027\u202f-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const begin = /^---[ ]*(?:\n|$)/;

/** The offset of each member, by its key or by `[0]`, `[1]`, … Made at the first `lineOf`. */
type Marks = Map<string, { readonly offset: number; readonly inner: Marks }>;

/**
 * Reads one document, ten times as fast as the package `yaml`. It knows only the part of YAML in
 * which nearly all resources are written. Returns undefined for any other text, which the package
 * must then read. Both read the same value from a text. Pure.
 */
export function quickYaml(text: string): QuickYaml | undefined {
  if (!readable.test(text)) return undefined;
  const cursor = start(text);
  if (cursor.column === -1) return { value: null, line: 1, lineOf: () => 1 };
  const begun = cursor.position;
  const value = root(cursor, undefined);
  if (value === unsure) return undefined;
  const line = text.slice(0, begun).split('\n').length;
  let positions: { readonly marks: Marks; readonly lines: readonly number[] } | undefined;
  return {
    value,
    line,
    lineOf: (field) => {
      positions ??= { marks: marksOf(text), lines: lineStarts(text) };
      const offset = offsetIn(positions.marks, field);
      return offset === undefined ? line : lineAt(positions.lines, offset);
    },
  };
}

function start(text: string): QuickCursor {
  const cursor = new QuickCursor(text);
  cursor.toLine(begin.exec(text)?.[0].length ?? 0);
  return cursor;
}

function marksOf(text: string): Marks {
  const marks: Marks = new Map();
  root(start(text), marks);
  return marks;
}

/** Returns the offset at which each line begins. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let offset = text.indexOf('\n'); offset !== -1; offset = text.indexOf('\n', offset + 1))
    starts.push(offset + 1);
  return starts;
}

/** Returns the number of the line that contains an offset, from 1. */
function lineAt(starts: readonly number[], offset: number): number {
  let [first, end] = [0, starts.length];
  while (end - first > 1) {
    const middle = (first + end) >> 1;
    if ((starts[middle] ?? 0) <= offset) first = middle;
    else end = middle;
  }
  return first + 1;
}

function offsetIn(marks: Marks, field: string): number | undefined {
  let inner: Marks | undefined = marks;
  let offset: number | undefined;
  for (const step of stepsOf(field)) {
    const mark: ReturnType<Marks['get']> = inner?.get(step);
    inner = mark?.inner;
    if (mark === undefined) break;
    offset = mark.offset;
  }
  return offset;
}

function root(cursor: QuickCursor, marks: Marks | undefined): unknown {
  if (cursor.column > 0) return unsure;
  const isFlow = cursor.code() === openMap;
  const value = isFlow ? flowMap(cursor, -1, 1, marks) : blockMap(cursor, 0, 0, marks);
  return (isFlow && !cursor.endLine()) || cursor.column !== -1 ? unsure : value;
}

/** Records the offset of a member, and returns the marks for its own members. */
function marked(marks: Marks | undefined, step: string, offset: number): Marks | undefined {
  const inner: Marks | undefined = marks && new Map();
  if (inner !== undefined) marks?.set(step, { offset, inner });
  return inner;
}

/** Reads all entries up to the closing bracket; `take` reads one. Returns false if it cannot. */
function entries(
  cursor: QuickCursor,
  close: number | undefined,
  around: number,
  take: () => boolean,
): boolean {
  cursor.position += 1;
  if (!cursor.skipBlanks(around)) return false;
  for (let isMore = cursor.code() !== close; isMore;) {
    if (!take() || !cursor.skipBlanks(around)) return false;
    isMore = cursor.code() === comma;
    if (isMore) cursor.position += 1;
    else if (cursor.code() !== close) return false;
    if (isMore && !cursor.skipBlanks(around)) return false;
  }
  cursor.position += 1;
  return true;
}

function flowList(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  const items: unknown[] = [];
  const take = () => {
    const inner = marked(marks, `[${items.length}]`, cursor.position);
    return items.push(inLine(cursor, 'flow', around, level, inner)) > 0 && items.at(-1) !== unsure;
  };
  return entries(cursor, closeList, around, take) ? items : unsure;
}

function flowMap(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  const fields: Record<string, unknown> = {};
  const take = () => {
    const from = cursor.position;
    const key = cursor.key('flow');
    if (key === undefined || key === unsure || !cursor.skipBlanks(around)) return false;
    const value = inLine(cursor, 'flow', around, level, marked(marks, key, from));
    return value !== unsure && put(fields, key, value);
  };
  return entries(cursor, closeMap, around, take) ? fields : unsure;
}

function inLine(
  cursor: QuickCursor,
  within: 'flow' | 'block',
  around: number,
  level: number,
  marks: Marks | undefined,
): unknown {
  if (cursor.isQuote()) return cursor.quoted();
  if (level >= mostLevels) return unsure;
  const first = cursor.code();
  if (first === openMap) return flowMap(cursor, around, level + 1, marks);
  if (first === openList) return flowList(cursor, around, level + 1, marks);
  return within === 'flow' ? cursor.plainInFlow() : cursor.plain();
}

/** Reads the value that follows a dash or a key on the same line. */
function lineValue(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  const value = inLine(cursor, 'block', around, level, marks);
  return value !== unsure && cursor.endLine() && cursor.column <= around ? value : unsure;
}

function blockMap(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  const fields: Record<string, unknown> = {};
  if (level >= mostLevels) return unsure;
  do {
    const from = cursor.position;
    const key = cursor.key('block');
    if (key === undefined || key === unsure) return unsure;
    const inner = marked(marks, key, from);
    cursor.skipSpaces();
    const value = cursor.isBare()
      ? below(cursor, around, level + 1, inner)
      : lineValue(cursor, around, level + 1, inner);
    if (value === unsure || !put(fields, key, value)) return unsure;
  } while (cursor.column === around);
  return cursor.column < around ? fields : unsure;
}

/** Reads the value of a key that has nothing after it on its line. */
function below(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  cursor.toNextLine();
  const { column } = cursor;
  if (column > around)
    return (cursor.isItem() ? blockList : blockMap)(cursor, column, level, marks);
  return column === around && cursor.isItem() ? blockList(cursor, around, level, marks) : null;
}

function blockList(cursor: QuickCursor, around: number, level: number, marks?: Marks): unknown {
  const items: unknown[] = [];
  if (level >= mostLevels) return unsure;
  do {
    cursor.position += 1;
    cursor.skipSpaces();
    const from = cursor.position;
    const key = cursor.key('block');
    cursor.position = from;
    cursor.column = from - cursor.lineStart;
    const inner = marked(marks, `[${items.length}]`, from);
    if (key === unsure) return unsure;
    const item =
      key === undefined
        ? lineValue(cursor, around, level + 1, inner)
        : blockMap(cursor, cursor.column, level + 1, inner);
    if (item === unsure) return unsure;
    items.push(item);
  } while (cursor.column === around && cursor.isItem());
  return cursor.column <= around ? items : unsure;
}

/** Sets a field. Returns false if the map has this key already. No key is `__proto__`. */
function put(fields: Record<string, unknown>, key: string, value: unknown): boolean {
  if (!Object.hasOwn(fields, key)) {
    fields[key] = value;
    return true;
  }
  return false;
}
