import { atOnce, tokensPerStep, type Steps } from './steps.ts';

/** How deep lists and maps may be nested. */
export const mostLevels = 100;

/**
 * Tokens of the YAML lexer that are not in the text: the start of a document or a scalar, and the
 * end of a broken list or map. The byte order mark is in the text, but takes no column.
 */
const marks = new Set(['\u0002', '\u001f', '\u0018', '\ufeff']);

/**
 * Returns the offset at which a text of YAML opens more levels than `most`; undefined if it never
 * does. JSON is a part of YAML. Reads the tokens of the lexer, which is not recursive. A parser of
 * nested texts is recursive, and V8 ends the process if a regular expression is compiled on a stack
 * that is nearly full. A list in a map may start at the map's column. The two then count as one
 * level, so a text may in fact have twice as many levels as `most`. Pure.
 */
export function levelsFlaw(tokens: Iterable<string>, most = mostLevels): number | undefined {
  return atOnce(levelsFlawInSteps(tokens, most));
}

/** Does the same in steps. */
export function* levelsFlawInSteps(
  tokens: Iterable<string>,
  most: number,
): Steps<number | undefined> {
  let count = 0;
  const columns: number[] = []; // of the lists and maps around this place, by indentation
  let [offset, column, flow] = [0, 0, 0];
  let key: number | undefined; // the column of a possible key of a map
  for (const token of tokens) {
    if ((count += 1) % tokensPerStep === 0) yield;
    if (marks.has(token)) continue;
    if (token === '[' || token === '{') flow += 1;
    else if (token === ']' || token === '}') flow = Math.max(flow - 1, 0);
    if (flow > most) return offset;
    if (flow === 0) {
      if (token === '-' || token === '?' || token === ':') {
        const indent = token === ':' ? (key ?? column) : column;
        while ((columns.at(-1) ?? -1) > indent) columns.pop();
        if (columns.at(-1) !== indent) columns.push(indent);
        if (columns.length > most) return offset;
        key = undefined;
      } else if (/\S/.test(token)) key ??= column;
    }
    offset += token.length;
    const line = token.lastIndexOf('\n');
    column = line === -1 ? column + token.length : token.length - line - 1;
    if (line !== -1 && flow === 0) key = undefined;
  }
  return undefined;
}

/** How much of a value may be visited. */
export interface ValueLimits {
  readonly values: number;
  readonly levels: number;
}

/**
 * Returns why a value is too large to visit; undefined if it is not. A value counts again for each
 * alias of it, and a value that contains itself is always too large. Pure.
 */
export function valueFlaw(content: unknown, { values, levels }: ValueLimits): string | undefined {
  const open = [{ value: content, level: 0 }];
  let count = 1;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (level === levels) return `it is nested more than ${levels} levels deep`;
    for (const member of Object.values(value) as unknown[]) {
      if ((count += 1) > values) return `it has more than ${values} values, which is the limit`;
      open.push({ value: member, level: level + 1 });
    }
  }
  return undefined;
}
