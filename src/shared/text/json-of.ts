import { parseJson } from './parse-json.ts';

/** Returns the value of a text in JSON; undefined if the text is not JSON. Pure. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
