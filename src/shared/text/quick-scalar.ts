import { parseJson } from './parse-json.ts';

/** The result for a text that may mean something else to the package `yaml`, or is wrong. */
export const unsure = Symbol('unsure');
export type Unsure = typeof unsure;

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const dash = 0x2d;
/** Characters of a key without quotes. */
export const inKey: Uint8Array = setOf(`${letters}${digits}_-./`);
const plainStart = setOf(`${letters}${digits}_./^$(+`);
const otherStart = setOf(`${digits}.+-tTfFnN`);

const number = /^-?(?:0|[1-9]\d{0,14})$|^-?(?:0|[1-9]\d{0,8})\.\d{1,6}$/;
const other =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|[-+]?\.(?:nan|NaN|NAN))$/;
const odd = /\\(?!["\\/bfnrt])/;

/** Whether the core schema of YAML reads this as a value that is not a text. Pure. */
export function isOther(text: string): boolean {
  return other.test(text);
}

/** Returns the value of a scalar without quotes, whose end and colons are checked. Pure. */
export function plainScalar(text: string): unknown {
  const first = text.charCodeAt(0);
  const second = text.charCodeAt(1);
  if (plainStart[first] !== 1 && (first !== dash || second === dash || inKey[second] !== 1))
    return unsure;
  if (otherStart[first] !== 1) return text;
  if (number.test(text)) return text === '-0' ? unsure : Number(text);
  if (!isOther(text)) return text;
  return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : unsure;
}

/** Returns the text between quotes. Pure. */
export function quotedScalar(inner: string, quotes: 'single' | 'double'): string | Unsure {
  if (inner.includes('\n')) return unsure;
  if (quotes === 'single') return inner.replaceAll("''", "'");
  if (!inner.includes('\\')) return inner;
  return odd.test(inner.replaceAll('\\\\', '')) ? unsure : (parseJson(`"${inner}"`) as string);
}

/** Returns the codes of ASCII characters. */
export function codes(signs: string): readonly number[] {
  return Array.from(signs, (sign) => sign.charCodeAt(0));
}

/** Returns a table with 1 at the codes of these characters, and where `others` has 1. */
export function setOf(signs: string, others: Uint8Array = new Uint8Array(128)): Uint8Array {
  const set = Uint8Array.from(others);
  for (const code of codes(signs)) set[code] = 1;
  return set;
}
