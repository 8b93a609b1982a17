import { mostLevels } from './levels.ts';

const signs = Array.from('"\\[{]}', (sign) => sign.charCodeAt(0));
const [quote, backslash, openList, openObject, closeList, closeObject] = signs;

/** A text opens too many levels. Its message says so, and repeats nothing of the text. */
export class TooDeep extends SyntaxError {}

/**
 * The value of a text of JSON, whose levels are counted before. Throws if there is none, as
 * `JSON.parse` does. This is the one place where that is called: whatever walks through a value of
 * many levels, a reviver too, is a recursive program, and V8 ends the process where a regular
 * expression is compiled on a stack that is nearly full.
 *
 * @param levels Infinity for a text of the program's own
 */
export function parseJson(
  text: string,
  reviver?: (name: string, value: unknown) => unknown,
  levels = mostLevels,
): unknown {
  if (isDeeper(text, levels)) throw new TooDeep(`it is nested more than ${levels} levels deep`);
  return JSON.parse(text, reviver) as unknown;
}

/** Whether a text opens more lists and objects in each other. Strings do not count. */
function isDeeper(text: string, most: number): boolean {
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === quote) at = endOfString(text, at + 1);
    else if (sign === openList || sign === openObject) level += 1;
    else if (sign === closeList || sign === closeObject) level -= 1;
    if (level > most) return true;
  }
  return false;
}

function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === quote) return at;
    if (sign === backslash) at += 1;
  }
  return text.length;
}
