import { mostLevels } from './levels.ts';

const signs = Array.from('"\\[{]}', (sign) => sign.charCodeAt(0));
const [quote, backslash, openList, openObject, closeList, closeObject] = signs;

/** A text opens too many levels. The message says only that, and contains nothing of the text. */
export class TooDeep extends SyntaxError {}

/**
 * Parses JSON after counting its levels. Throws if it is invalid, as `JSON.parse` does. Only this
 * function calls `JSON.parse`. Any code that visits a value of many levels, even a reviver, is
 * recursive, and V8 ends the process if a regular expression is compiled on a stack that is nearly
 * full.
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

/** Whether a text nests lists and objects deeper than `most`. Strings do not count. */
function isDeeper(text: string, most: number): boolean {
  let level = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === quote) index = endOfString(text, index + 1);
    else if (sign === openList || sign === openObject) level += 1;
    else if (sign === closeList || sign === closeObject) level -= 1;
    if (level > most) return true;
  }
  return false;
}

function endOfString(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === quote) return index;
    if (sign === backslash) index += 1;
  }
  return text.length;
}
