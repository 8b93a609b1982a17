import {
  type ExpositionFormat,
  type FamilyHead,
  type FamilyType,
  familyType,
} from './exposition-format.ts';
import type { Sample } from './parse-sample.ts';
import { boundOf } from './sound-metric.ts';

/** The comments about a family that come before its rows. */
export interface Announced {
  readonly name: string;
  type?: FamilyType;
  help?: string;
  unit?: string;
}

export interface Comment {
  readonly word: string;
  readonly name: string;
  readonly value: string;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const commentForm = /^#[ \t]+(TYPE|HELP|UNIT)[ \t]+([^ \t]+)(?:[ \t]+(.*))?$/s;

/** Parses a comment about a family; undefined for any other. Pure. */
export function readComment(line: string): Comment | undefined {
  const [, word, name = '', value = ''] = commentForm.exec(line) ?? [];
  return word === undefined || !metricName.test(name) ? undefined : { word, name, value };
}

/** Records a comment, unless an earlier one of the same kind exists. */
export function announce(
  announced: Announced,
  { word, value }: Comment,
  from: ExpositionFormat,
): void {
  if (word === 'TYPE') announced.type ??= familyType(value.trim(), from);
  else if (word === 'HELP') announced.help ??= value;
  else announced.unit ??= value.trim();
}

/** Prints the comments of a family in the format of the answer, one line each. Pure. */
export function printHead(
  { name, type }: FamilyHead,
  { help, unit }: Announced,
  to: ExpositionFormat,
): string {
  const text = help === undefined ? '' : `# HELP ${name} ${helpText(help, to)}\n`;
  const word = type === 'unknown' && to === 'text' ? 'untyped' : type;
  const hasUnit =
    to === 'openmetrics' &&
    unit !== undefined &&
    unit !== '' &&
    name.endsWith(`_${unit}`) &&
    type !== 'info' &&
    type !== 'stateset';
  return `${text}# TYPE ${name} ${word}\n${hasUnit ? `# UNIT ${name} ${unit}\n` : ''}`;
}

/** Unescapes a text of either format, and escapes it for the answer. */
function helpText(text: string, to: ExpositionFormat): string {
  const plain = text.replace(/\\([\\n"])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
  const escaped = plain.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return to === 'text' ? escaped : escaped.replaceAll('"', '\\"');
}

/**
 * Prints a row in the format of the answer, with its line end. `suffix` is what the row appends to
 * the family's name. Pure.
 */
export function printRow(
  sample: Sample,
  type: FamilyType,
  suffix: string,
  from: ExpositionFormat,
  to: ExpositionFormat,
): string {
  const { name, labels, bound, value, timestamp, exemplar } = sample;
  const edge =
    bound === undefined
      ? ''
      : `${bound[0]}="${to === 'openmetrics' ? canonical(bound[1], type) : bound[1]}"`;
  const pairs = labels === '' || edge === '' ? labels + edge : `${labels},${edge}`;
  const braces = pairs === '' ? '' : `{${pairs}}`;
  const time = timestamp === undefined ? '' : ` ${printTime(timestamp, from, to)}`;
  const example =
    to === 'openmetrics' && exemplar !== '' && (suffix === '_bucket' || suffix === '_total')
      ? ` ${exemplar}`
      : '';
  return `${name}${braces} ${value}${time}${example}\n`;
}

function canonical(text: string, type: FamilyType): string {
  return type === 'histogram' || type === 'gaugehistogram' || type === 'summary'
    ? canonicalBound(text)
    : text;
}

/** Prints a bound for OpenMetrics, which needs `1.0` for the `1` of the text format. Pure. */
export function canonicalBound(text: string): string {
  const number = boundOf(text);
  if (number === Infinity) return '+Inf';
  if (!/^[+-]?\d+$/.test(text)) return text;
  return number < 1e21 ? `${number}.0` : String(number); // larger numbers get an exponent
}

function printTime(timestamp: string, from: ExpositionFormat, to: ExpositionFormat): string {
  if (from === to) return timestamp;
  return to === 'openmetrics'
    ? String(Number(timestamp) / 1000)
    : String(Math.round(Number(timestamp) * 1000));
}
