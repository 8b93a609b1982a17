import { hashText } from './hash-text.ts';

/** One row of an exposition. All texts may be written in either format. */
export interface Sample {
  readonly name: string;
  /** The text between the braces, without spaces, and without `bound`. */
  readonly labels: string;
  /** `le` or `quantile`, and its value. */
  readonly bound: readonly [label: 'le' | 'quantile', value: string] | undefined;
  /** Equal for two rows if and only if their labels are, in any order, without `bound`. */
  readonly metric: number;
  /** Equal for two rows if and only if their names and all their labels are. */
  readonly series: number;
  readonly value: string;
  /** In ms in the text format, in seconds in OpenMetrics. */
  readonly timestamp: string | undefined;
  /** From its `#` on; empty for none. */
  readonly exemplar: string;
}

/** A row with more labels is invalid: each name is compared with those before it. */
const mostLabels = 128;
/**
 * The form of a number. There is one way to match each text, so the expression never backtracks.
 */
export const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const exemplarForm =
  /^# \{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\n"])*"(?:,(?=[a-zA-Z_]))?)*)\} [+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?: \d+(?:\.\d*)?)?$/;
/**
 * The maximum length of an exemplar's label names and values together, in characters (OpenMetrics
 * 1.0).
 */
const longestExemplar = 128;
const [tab, blank, quote, comma, colon, equals, backslash, underscore, opening, closing, cross] = [
  '\t',
  ' ',
  '"',
  ',',
  ':',
  '=',
  '\\',
  '_',
  '{',
  '}',
  '#',
].map((sign) => sign.charCodeAt(0));

/**
 * Parses a row; undefined if it is invalid. An exemplar that breaks its rules is left out. Pure.
 *
 * Reads character by character: a scrape has thousands of rows, and each expression that captures
 * makes an array for each of them.
 */
export function parseSample(line: string): Sample | undefined {
  const begin = blanksEnd(line, 0);
  let offset = nameEnd(line, begin, 'metric');
  if (offset === begin) return undefined;
  const name = line.slice(begin, offset);
  let [labels, metric, series] = ['', 0, hashText(name)];
  let bound: Sample['bound'];
  offset = blanksEnd(line, offset);
  if (line.charCodeAt(offset) === opening) {
    const names: string[] = [];
    for (offset = blanksEnd(line, offset + 1); line.charCodeAt(offset) !== closing;) {
      const end = nameEnd(line, offset, 'label');
      const sign = blanksEnd(line, end);
      const start = blanksEnd(line, sign + 1);
      const last =
        line.charCodeAt(sign) === equals && line.charCodeAt(start) === quote
          ? closingQuote(line, start + 1)
          : -1;
      const label = line.slice(offset, end);
      if (end === offset || last < 0 || names.length >= mostLabels || names.includes(label))
        return undefined;
      names.push(label);
      const value = soundEscapes(line.slice(start + 1, last));
      const pair = `${label}="${value}"`;
      if (label === 'le' || label === 'quantile') {
        if (bound !== undefined) return undefined;
        bound = [label, value];
        series += hashText(pair);
      } else {
        labels += labels === '' ? pair : `,${pair}`;
        metric += hashText(pair);
      }
      offset = blanksEnd(line, last + 1); // Prometheus also accepts labels without a comma
      if (line.charCodeAt(offset) === comma) offset = blanksEnd(line, offset + 1);
    }
    offset = blanksEnd(line, offset + 1);
  } else if (offset === begin + name.length) return undefined;
  let end = wordEnd(line, offset, 'blank');
  const raw = line.slice(offset, end);
  const value = numberForm.test(raw) ? finite(raw) : special(raw);
  if (value === undefined) return undefined;
  offset = blanksEnd(line, end);
  end = wordEnd(line, offset, 'cross');
  const timestamp = end === offset ? undefined : line.slice(offset, end);
  if (timestamp !== undefined && !numberForm.test(timestamp)) return undefined;
  offset = blanksEnd(line, end);
  let exemplar = '';
  if (line.charCodeAt(offset) === cross && line.charCodeAt(blanksEnd(line, offset + 1)) === opening)
    exemplar = soundExemplar(line, offset);
  else if (offset < line.length) return undefined;
  return { name, labels, bound, metric, series: series + metric, value, timestamp, exemplar };
}

/**
 * Returns the offset of the next blank, or of the `#` of an exemplar before it (`cross`); else the
 * end.
 */
function wordEnd(line: string, from: number, to: 'blank' | 'cross'): number {
  let offset = from;
  for (; offset < line.length; offset++) {
    const code = line.charCodeAt(offset);
    if (code === blank || code === tab || (to === 'cross' && code === cross)) break;
  }
  return offset;
}

function nameEnd(line: string, from: number, kind: 'metric' | 'label'): number {
  let offset = from;
  for (; offset < line.length; offset++) {
    const code = line.charCodeAt(offset);
    const letter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    if (
      !letter &&
      code !== underscore &&
      !(kind === 'metric' && code === colon) &&
      !(offset > from && code >= 0x30 && code <= 0x39)
    )
      break;
  }
  return offset;
}

function blanksEnd(line: string, from: number): number {
  let offset = from;
  while (line.charCodeAt(offset) === blank || line.charCodeAt(offset) === tab) offset += 1;
  return offset;
}

/**
 * Returns the offset at which a label's value ends, or −1. A backslash escapes the next character.
 */
function closingQuote(line: string, from: number): number {
  for (let offset = from; offset < line.length; offset++) {
    const code = line.charCodeAt(offset);
    if (code === quote) return offset;
    if (code === backslash) offset += 1;
  }
  return -1;
}

/**
 * Escapes a backslash that begins no escape of the format: as in Prometheus, it stands for itself.
 */
function soundEscapes(value: string): string {
  return value.includes('\\')
    ? value.replace(/\\(.)/gs, (escape, sign: string) =>
        '\\n"'.includes(sign) ? escape : `\\${escape}`,
      )
    : value;
}

/**
 * Returns undefined for a number out of range, which would make Prometheus refuse the whole answer.
 */
function finite(number: string): string | undefined {
  return Number.isFinite(Number(number)) ? number : undefined;
}

function soundExemplar(line: string, from: number): string {
  const tail = line.slice(from).trimEnd();
  const pairs = exemplarForm.exec(tail)?.[1];
  const numbers = tail
    .slice(tail.lastIndexOf('}') + 1)
    .split(' ')
    .every((number) => Number.isFinite(Number(number)));
  return pairs === undefined || !numbers || pairs.replace(/["=,]/g, '').length > longestExemplar
    ? ''
    : tail;
}

function special(value: string): string | undefined {
  switch (value.toLowerCase()) {
    case 'nan':
      return 'NaN';
    case 'inf':
    case '+inf':
    case 'infinity':
    case '+infinity':
      return '+Inf';
    case '-inf':
    case '-infinity':
      return '-Inf';
    default:
      return undefined;
  }
}
