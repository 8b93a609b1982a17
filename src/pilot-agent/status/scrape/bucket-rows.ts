// Why: docs/decisions/051-merged-metrics-keep-what-prometheus-takes.md
import { hashText } from './hash-text.ts';
import type { Sample } from './parse-sample.ts';
import { canonicalBound } from './print-exposition.ts';
import { boundOf, type MetricRow } from './sound-metric.ts';

/** A value of `le`, which each metric of a family repeats. */
interface Bound {
  readonly printed: string;
  readonly number: number;
  readonly hash: number;
}

/** A row of a bucket that was read without its labels. */
interface BucketRow {
  /** As in {@link Sample}. */
  readonly series: number;
  readonly row: MetricRow;
  /** The offset of the next line. */
  readonly end: number;
}

/** Reads further rows of a metric, after the first one was parsed. */
export type BucketRows = (text: Buffer, from: number) => BucketRow | undefined;

const [quote, closing, blank, lineFeed, zero] = ['"', '}', ' ', '\n', '0'].map((sign) =>
  sign.charCodeAt(0),
) as [number, number, number, number, number];
/** Numbers with more digits are not exact. */
const mostDigits = 15;
const longestBound = 24;
/** The maximum number of different values of `le` in one exposition. */
const mostBounds = 1_000;

/**
 * Makes readers of the rows of buckets, which are printed as in OpenMetrics. The rows of one metric
 * differ in `le`, which is usually the last label, and in their value. The text before `le` is
 * compared with the previous row, byte for byte, and not parsed again.
 */
export function bucketRows(): (
  first: Sample,
  text: Buffer,
  from: number,
) => BucketRows | undefined {
  const bounds = new Map<string, Bound | undefined>();

  function boundAs(written: string): Bound | undefined {
    const cached = bounds.get(written);
    if (cached !== undefined || bounds.has(written)) return cached;
    const number = boundOf(written);
    const bound = Number.isNaN(number)
      ? undefined
      : { printed: canonicalBound(written), number, hash: hashText(`le="${written}"`) };
    if (bounds.size < mostBounds) bounds.set(written, bound);
    return bound;
  }

  return ({ name, labels, bound, series }, text, from) => {
    if (bound?.[0] !== 'le') return undefined;
    const prefix = `${name}{${labels}${labels === '' ? '' : ','}le="`;
    const bytes = Buffer.from(prefix);
    if (!isThere(bytes, text, from)) return undefined; // it is written in another way
    const others = series - hashText(`le="${bound[1]}"`);

    return (text, from) => {
      if (!isThere(bytes, text, from)) return undefined;
      const start = from + bytes.length;
      let offset = start;
      while (text[offset] !== quote && offset - start < longestBound) offset += 1;
      if (text[offset] !== quote || text[offset + 1] !== closing || text[offset + 2] !== blank)
        return undefined;
      const bucketBound = boundAs(text.toString('latin1', start, offset));
      const value = offset + 3;
      let amount = 0;
      for (offset = value; isDigit(text[offset]); offset++)
        amount = amount * 10 + ((text[offset] ?? zero) - zero);
      if (
        bucketBound === undefined ||
        offset === value ||
        offset - value > mostDigits ||
        text[offset] !== lineFeed
      )
        return undefined;
      const row = {
        suffix: '_bucket',
        bound: bucketBound.number,
        value: amount,
        text: `${prefix}${bucketBound.printed}"} ${text.toString('latin1', value, offset)}\n`,
      };
      return { series: others + bucketBound.hash, row, end: offset + 1 };
    };
  };
}

function isThere(bytes: Buffer, text: Buffer, from: number): boolean {
  const end = from + bytes.length;
  return end <= text.length && text.compare(bytes, 0, bytes.length, from, end) === 0;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}
