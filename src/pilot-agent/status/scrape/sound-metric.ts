import type { ExpositionFormat, FamilyType } from './exposition-format.ts';
import { numberForm, type Sample } from './parse-sample.ts';

/**
 * Returns whether a row follows the rules of its family's type, as far as one row can. `suffix` is
 * what the row appends to the family's name. The text format has no rules for values: there a bound
 * must be a number, and nothing else is checked. Pure.
 */
export function soundRow(
  sample: Sample,
  family: string,
  type: FamilyType,
  suffix: string,
  to: ExpositionFormat,
): boolean {
  const { labels, bound, value } = sample;
  if (to === 'text')
    return (
      bound === undefined ||
      !isGrouped(type) ||
      /^nan$/i.test(bound[1]) ||
      !Number.isNaN(boundOf(bound[1]))
    );
  const amount = Number(value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : value);
  switch (type) {
    case 'counter':
      return amount >= 0;
    case 'histogram':
    case 'gaugehistogram':
      if (suffix !== '_bucket') return bound === undefined && (amount >= 0 || suffix === '_gsum');
      return bound?.[0] === 'le' && !Number.isNaN(boundOf(bound[1])) && amount >= 0;
    case 'summary': {
      if (suffix !== '') return bound === undefined && amount >= 0;
      const quantile = bound?.[0] === 'quantile' ? boundOf(bound[1]) : NaN;
      return quantile >= 0 && quantile <= 1 && !(amount < 0);
    }
    case 'info':
      return amount === 1;
    case 'stateset':
      return (amount === 0 || amount === 1) && `,${labels}`.includes(`,${family}="`);
    case 'gauge':
    case 'unknown':
      return true;
  }
}

/** Returns `le` or `quantile` as a number; NaN if it is none. */
export function boundOf(text: string): number {
  if (/^\+?inf(inity)?$/i.test(text)) return Infinity;
  if (/^-inf(inity)?$/i.test(text)) return -Infinity;
  return numberForm.test(text) ? Number(text) : NaN;
}

/** A row of a metric that is held back until the metric ends. */
export interface MetricRow {
  readonly suffix: string;
  /** NaN for none. */
  readonly bound: number;
  readonly value: number;
  /** The printed row. */
  readonly text: string;
}

/**
 * The maximum number of rows of one metric that are held back, and their maximum length in
 * characters.
 */
const mostRows = 1_000;
const mostText = 256 << 10;

/**
 * The rows of one metric of a histogram or a summary. OpenMetrics requires it to be whole, so the
 * rows are held back until the metric ends, and written only if nothing is missing or
 * contradictory.
 */
export interface MetricGroup {
  readonly key: number;
  readonly rows: MetricRow[];
  /** In characters. */
  size: number;
}

/** Adds a row, as long as the metric can still be whole. */
export function takeRow(group: MetricGroup, row: MetricRow): void {
  if (isTooLarge(group)) return;
  group.rows.push(row);
  group.size += row.text.length;
}

function isTooLarge({ rows, size }: MetricGroup): boolean {
  return rows.length > mostRows || size > mostText;
}

/** Returns whether a metric of this type is a group of rows that is written as a whole. */
export function isGrouped(type: FamilyType): boolean {
  return type === 'histogram' || type === 'gaugehistogram' || type === 'summary';
}

/**
 * Returns the rows of a metric in their order, as text, if OpenMetrics accepts them; otherwise
 * undefined. Pure.
 */
export function wholeMetric(group: MetricGroup, type: FamilyType): string | undefined {
  if (isTooLarge(group)) return undefined;
  const { rows } = group;
  const text = rows.map((row) => row.text).join('');
  if (type === 'summary') return text;
  const value = (suffix: string) => rows.find((row) => row.suffix === suffix)?.value;
  const [count, sum] =
    type === 'histogram' ? [value('_count'), value('_sum')] : [value('_gcount'), value('_gsum')];
  const buckets = rows.filter(({ suffix }) => suffix === '_bucket');
  const whole =
    buckets.every((bucket) => Number.isInteger(bucket.value)) &&
    (count === undefined || Number.isInteger(count));
  const rising = buckets.every((bucket, index) => {
    const before = buckets[index - 1];
    return before === undefined || (before.bound < bucket.bound && before.value <= bucket.value);
  });
  const last = buckets.at(-1);
  const closed = last?.bound === Infinity;
  const agreed =
    (count === undefined) === (sum === undefined) && (count === undefined || count === last?.value);
  const negative = buckets.some((bucket) => bucket.bound < 0);
  return whole && rising && closed && agreed && !(negative && sum !== undefined) ? text : undefined;
}
