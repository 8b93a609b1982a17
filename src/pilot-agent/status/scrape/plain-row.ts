// Why: docs/decisions/051-merged-metrics-keep-what-prometheus-takes.md
import {
  type ExpositionFormat,
  type FamilyHead,
  type FamilyType,
  rowSuffixes,
  suffixOf,
} from './exposition-format.ts';
import { begun, hashText, stirHigh, stirLow, wholeHash } from './hash-text.ts';
import type { NumberSet } from './number-set.ts';
import { isGrouped } from './sound-metric.ts';

/** A name that the rows of a family may have, and the rules for those rows. */
export interface RowName {
  readonly bytes: Uint8Array;
  readonly hash: number;
  /** Whether `le` or `quantile` must be there, may be there, or must not. */
  readonly bound: 'le' | 'quantile' | 'any' | 'none';
  readonly value: 'any' | 'amount' | 'one';
}

const [
  blank,
  quote,
  comma,
  plus,
  minus,
  dot,
  equals,
  backslash,
  opening,
  closing,
  lineFeed,
  digit0,
  digit1,
] = [' ', '"', ',', '+', '-', '.', '=', '\\', '{', '}', '\n', '0', '1'].map((sign) =>
  sign.charCodeAt(0),
) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
/** A row with more labels is not handled here: each hash of a label is compared with all others. */
const mostLabels = 16;
/** A number within both limits fits into a double. */
const [mostDigits, mostExponent] = [100, 2];
const labelNames = new Int32Array(mostLabels);
const escaped: ReadonlySet<number | undefined> = new Set(
  ['\\', 'n', '"'].map((sign) => sign.charCodeAt(0)),
);
/** For each byte: whether a label may begin with it, and whether it may follow later. */
const [begins, goesOn] = [/[a-zA-Z_]/, /\w/].map((form) =>
  Uint8Array.from({ length: 256 }, (_, code) => Number(form.test(String.fromCharCode(code)))),
) as [Uint8Array, Uint8Array];
const isDigit = (code: number | undefined) => code !== undefined && code >= 0x30 && code <= 0x39;

/**
 * Returns the names of those rows of a family that can be copied into the answer, byte for byte;
 * none for a family whose rows must be checked together, or of a rare type. Pure.
 */
export function rowNames(
  source: FamilyHead,
  family: FamilyHead,
  from: ExpositionFormat,
  to: ExpositionFormat,
): readonly RowName[] {
  const { type } = family;
  if (type === 'stateset' || type === 'gaugehistogram' || (to === 'openmetrics' && isGrouped(type)))
    return [];
  return rowSuffixes(source.type, from).flatMap((sourceSuffix) => {
    const name = source.name + sourceSuffix;
    const suffix = suffixOf(name, family, to);
    return suffix === undefined
      ? []
      : [{ bytes: Buffer.from(name, 'latin1'), hash: hashText(name), ...ruleOf(type, suffix) }];
  });
}

function ruleOf(type: FamilyType, suffix: string): Pick<RowName, 'bound' | 'value'> {
  if (type === 'histogram') return { bound: suffix === '_bucket' ? 'le' : 'none', value: 'amount' };
  if (type === 'summary') return { bound: suffix === '' ? 'quantile' : 'none', value: 'amount' };
  return { bound: 'any', value: type === 'info' ? 'one' : type === 'counter' ? 'amount' : 'any' };
}

/**
 * Checks whether the row at `from` needs no rewriting: it is valid, and is written exactly as it
 * would be printed. Returns the offset of the next line; the negative offset if the row was there
 * before; or 0 if other code must check the row. The last byte of `text` must be the end of a line.
 * Adds the row to `series`, with the same hash as in {@link parseSample}.
 */
export function plainRow(text: Uint8Array, from: number, name: RowName, series: NumberSet): number {
  const { bytes } = name;
  let offset = from;
  for (let index = 0; index < bytes.length; index++, offset++)
    if (text[offset] !== bytes[index]) return 0;
  let hash = name.hash;
  let bound = 'none';
  if (text[offset] === opening) {
    let labels = 0;
    do {
      offset += 1;
      const start = offset;
      let [low, high, code] = [begun.low, begun.high, text[offset] ?? 0];
      if (begins[code] === 0) return 0;
      for (; goesOn[code] === 1; code = text[++offset] ?? 0) {
        low = stirLow(low, code);
        high = stirHigh(high, code);
      }
      if (
        code !== equals ||
        text[offset + 1] !== quote ||
        labels === mostLabels ||
        bound !== 'none'
      )
        return 0;
      for (let other = 0; other < labels; other++) if (labelNames[other] === low) return 0;
      labelNames[labels++] = low;
      if (offset - start === 2 && text[start] === 0x6c && text[start + 1] === 0x65) bound = 'le';
      else if (offset - start === 8 && text[start] === 0x71 && low === quantile) bound = 'quantile';
      const value = offset + 2;
      low = stirLow(stirLow(low, equals), quote);
      high = stirHigh(stirHigh(high, equals), quote);
      for (offset = value, code = text[offset] ?? 0; code !== quote; code = text[++offset] ?? 0) {
        if (code >= 0x80 || code === lineFeed) return 0;
        low = stirLow(low, code);
        high = stirHigh(high, code);
        if (code !== backslash) continue;
        code = text[++offset] ?? 0;
        if (!escaped.has(code)) return 0;
        low = stirLow(low, code);
        high = stirHigh(high, code);
      }
      hash += wholeHash(stirLow(low, quote), stirHigh(high, quote));
      if (bound !== 'none' && name.bound !== 'any' && !isBound(text, value, offset, name.bound))
        return 0;
      offset += 1;
    } while (text[offset] === comma);
    if (text[offset] !== closing) return 0;
    offset += 1;
  }
  if (name.bound !== 'any' && name.bound !== bound) return 0;
  if (text[offset] !== blank) return 0;
  const end = valueEnd(text, offset + 1, name.value);
  if (text[end] !== lineFeed) return 0;
  return series.add(hash) ? end + 1 : -end - 1;
}

const quantile = [...Buffer.from('quantile')].reduce(stirLow, begun.low);

/** Returns the end of a value that is valid in such a row; −1 if it is not. */
function valueEnd(text: Uint8Array, from: number, kind: RowName['value']): number {
  const first = text[from];
  if (kind === 'one') return first === digit1 ? from + 1 : -1;
  if (kind === 'any' && (first === minus || first === plus))
    return infinityEnd(text, from + 1) ?? numberEnd(text, from + 1);
  return numberEnd(text, from);
}

function infinityEnd(text: Uint8Array, from: number): number | undefined {
  return text[from] === 0x49 && text[from + 1] === 0x6e && text[from + 2] === 0x66
    ? from + 3
    : undefined;
}

/**
 * Returns the end of a number without a sign; −1 if it is none, or may be out of the range of a
 * double.
 */
function numberEnd(text: Uint8Array, from: number): number {
  const end = formEnd(text, from);
  return end - from > mostDigits ? -1 : end;
}

function formEnd(text: Uint8Array, from: number): number {
  let offset = from;
  while (isDigit(text[offset])) offset += 1;
  if (text[offset] === dot) {
    const before = offset > from;
    offset += 1;
    if (!before && !isDigit(text[offset])) return -1;
    while (isDigit(text[offset])) offset += 1;
  }
  if (offset === from) return -1;
  if (((text[offset] ?? 0) | 0x20) !== 0x65) return offset;
  offset += 1;
  if (text[offset] === minus || text[offset] === plus) offset += 1;
  const exponent = offset;
  while (isDigit(text[offset])) offset += 1;
  return offset === exponent || offset - exponent > mostExponent ? -1 : offset;
}

function isBound(text: Uint8Array, from: number, end: number, bound: RowName['bound']): boolean {
  if (bound === 'quantile')
    return (
      (text[from] === digit0 && numberEnd(text, from) === end && isFraction(text, from, end)) ||
      (text[from] === digit1 && end === from + 1)
    );
  if (text[from] === plus) return infinityEnd(text, from + 1) === end;
  return numberEnd(text, from) === end;
}

/** Returns whether the text is `0`, or `0.` and digits. */
function isFraction(text: Uint8Array, from: number, end: number): boolean {
  if (end === from + 1) return true;
  if (text[from + 1] !== dot) return false;
  for (let offset = from + 2; offset < end; offset++) if (!isDigit(text[offset])) return false;
  return true;
}
