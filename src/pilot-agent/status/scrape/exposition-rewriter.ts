import type { AnswerText } from './answer-text.ts';
import { bucketRows } from './bucket-rows.ts';
import { type ExpositionFormat, type FamilyHead, suffixOf } from './exposition-format.ts';
import { hashText } from './hash-text.ts';
import { type LeftOut, leftOutRows } from './left-out.ts';
import { numberSet } from './number-set.ts';
import { parseSample, type Sample } from './parse-sample.ts';
import { plainRow } from './plain-row.ts';
import { printRow, readComment } from './print-exposition.ts';
import { type Current, RewrittenFamilies, type Rewriting } from './rewritten-families.ts';
import {
  boundOf,
  isGrouped,
  type MetricGroup,
  takeRow,
  soundRow,
  wholeMetric,
} from './sound-metric.ts';

/** Takes the lines of an exposition, and writes those that the answer may contain. */
export interface ExpositionRewriter {
  /**
   * Takes at most `most` lines of a text that ends with the end of a line, from the start of a
   * line; returns the offset of the next line.
   */
  take(text: Buffer, from: number, most: number): number;
  /** Writes the rows that were held back until the end. */
  end(): void;
  /** Returns the number of rows that were left out so far, of all rows, and of families. */
  counts(): { readonly dropped: number; readonly rows: number; readonly families: number };
  /** Returns the first row that was left out for each reason. */
  leftOut(): ReadonlyMap<LeftOut, string>;
}

/** The forms of a time: in ms; in seconds. */
const timeForms = { text: /^-?\d{1,15}$/, openmetrics: /^-?\d{1,15}(?:\.\d+)?$/ } as const;
const [lineFeed, carriageReturn, cross] = [0x0a, 0x0d, 0x23];

/**
 * Rewrites the exposition of one source into the format of the answer. `usedNames` has the hashes
 * of the names that the answer already contains, from any source: it grows. A family whose name is
 * in use is left out as a whole, and so is every row that breaks a rule of the answer's format. If
 * a source interrupts a family by another one, its rows are written as they come: Prometheus
 * accepts them.
 *
 * Most rows are copied unchanged ({@link plainRow}); the others are parsed, and printed.
 */
export function expositionRewriter(
  from: ExpositionFormat,
  to: ExpositionFormat,
  usedNames: Set<number>,
  allowed: (name: string) => boolean,
  answer: AnswerText,
): ExpositionRewriter {
  return new Rewriter({ from, to, usedNames, allowed, answer });
}

class Rewriter implements ExpositionRewriter {
  readonly #rewriting: Rewriting;
  readonly #families: RewrittenFamilies;
  /** The rows and the metrics of the whole source so far. */
  readonly #series = numberSet();
  readonly #metrics = numberSet();
  readonly #left = leftOutRows();
  readonly #furtherBuckets = bucketRows();
  #rows = 0;

  constructor(rewriting: Rewriting) {
    this.#rewriting = rewriting;
    this.#families = new RewrittenFamilies(rewriting);
  }

  take(text: Buffer, start: number, most: number): number {
    let offset = start;
    for (let lines = 0; lines < most && offset < text.length; lines++) {
      const next =
        text[offset] === cross ? 0 : this.#takeBucket(text, offset) || this.#copyRow(text, offset);
      if (next > 0) {
        offset = next;
        continue;
      }
      const end = text.indexOf(lineFeed, offset);
      this.#rewrite(text, offset, text[end - 1] === carriageReturn && end > offset ? end - 1 : end);
      offset = end + 1;
    }
    return offset;
  }

  end(): void {
    this.#closeGroup();
    this.#families.current = undefined;
  }

  counts(): { readonly dropped: number; readonly rows: number; readonly families: number } {
    return { dropped: this.#left.count(), rows: this.#rows, families: this.#families.size() };
  }

  leftOut(): ReadonlyMap<LeftOut, string> {
    return this.#left.first();
  }

  /** Copies the row at `start`, if possible; returns the offset of the next line, or 0. */
  #copyRow(text: Buffer, start: number): number {
    const now = this.#families.next();
    if (now?.family === undefined) return 0;
    for (const name of now.names) {
      const end = plainRow(text, start, name, this.#series);
      if (end === 0) continue;
      this.#rows += 1;
      if (this.#families.current === undefined) this.#families.enter(now);
      if (end < 0) {
        this.#left.drop('again', () => text.toString('utf8', start, -end));
        return -end;
      }
      this.#families.giveHead(now, now.family);
      this.#rewriting.answer.copy(text, start, end);
      return end;
    }
    return 0;
  }

  /** Takes a bucket that resembles the previous row; returns the offset of the next line, or 0. */
  #takeBucket(text: Buffer, start: number): number {
    const { buckets, group } = this.#families.current ?? {};
    const bucket = buckets?.(text, start);
    if (bucket === undefined || group === undefined) return 0;
    this.#rows += 1;
    if (this.#series.add(bucket.series)) takeRow(group, bucket.row);
    else this.#left.drop('again', () => text.toString('utf8', start, bucket.end));
    return bucket.end;
  }

  #rewrite(text: Buffer, start: number, end: number): void {
    const line = text.toString('utf8', start, end);
    const first = line.trimStart();
    if (first.startsWith('#')) {
      const comment = readComment(first);
      if (comment !== undefined) this.#families.announce(comment, () => this.end());
      return;
    }
    if (first === '') return;
    this.#rows += 1;
    const sample = parseSample(line);
    if (sample === undefined) this.#left.drop('form', () => line);
    else this.#row(sample, text, start, () => line);
  }

  #row(sample: Sample, text: Buffer, start: number, line: () => string): void {
    const { from, to } = this.#rewriting;
    const now = this.#familyOf(sample);
    const { family } = now;
    const suffix = family && suffixOf(sample.name, family, to);
    if (family === undefined || suffix === undefined) {
      // A row that the format of the answer does not have is not a loss, and does not count.
      if (family === undefined) this.#left.drop('taken', line);
      return;
    }
    const flaw = this.#flawOf(sample, family, suffix);
    if (flaw !== undefined) {
      this.#left.drop(flaw, line);
      return;
    }
    const printed = printRow(sample, family.type, suffix, from, to);
    if (to === 'text' || !isGrouped(family.type)) {
      this.#give(now, family, printed);
      return;
    }
    const group = this.#groupOf(now, sample.metric + hashText(family.name));
    if (group === undefined) {
      this.#left.drop('apart', line); // it has already ended, and its rows must be adjacent
      return;
    }
    const bound = sample.bound === undefined ? NaN : boundOf(sample.bound[1]);
    takeRow(group, { suffix, bound, value: Number(sample.value), text: printed });
    if (suffix === '_bucket') now.buckets ??= this.#furtherBuckets(sample, text, start);
  }

  /** Returns the current family if the row belongs to it, else the next one. */
  #familyOf(sample: Sample): Current {
    const { current } = this.#families;
    if (
      current !== undefined &&
      suffixOf(sample.name, current.source, this.#rewriting.from) !== undefined
    )
      return current;
    this.end();
    return this.#families.enter(this.#families.owning(sample.name));
  }

  /** Returns the rule of the answer's format that a row breaks; otherwise records the row. */
  #flawOf(sample: Sample, { name, type }: FamilyHead, suffix: string): LeftOut | undefined {
    const { from, to } = this.#rewriting;
    const { timestamp } = sample;
    const isTimed =
      timestamp === undefined ||
      (timeForms[from].test(timestamp) && !(to === 'text' && timestamp.startsWith('-')));
    if (!isTimed) return 'time';
    if (!soundRow(sample, name, type, suffix, to)) return 'value';
    if (!this.#series.add(sample.series)) return 'again';
    return undefined;
  }

  /** Returns the group of a metric, begun with its first row; undefined if it has already ended. */
  #groupOf(now: Current, metric: number): MetricGroup | undefined {
    if (now.group?.key === metric) return now.group;
    this.#closeGroup();
    if (!this.#metrics.add(metric)) return undefined;
    now.group = { key: metric, rows: [], size: 0 };
    return now.group;
  }

  #closeGroup(): void {
    const { current } = this.#families;
    if (current?.group === undefined || current.family === undefined) return;
    const { group, family } = current;
    current.group = undefined;
    current.buckets = undefined;
    const text = wholeMetric(group, family.type);
    if (text === undefined)
      this.#left.drop('not-whole', () => group.rows[0]?.text ?? '', group.rows.length);
    else this.#give(current, family, text);
  }

  #give(now: Current, family: FamilyHead, text: string): void {
    this.#families.giveHead(now, family);
    this.#rewriting.answer.write(text);
  }
}
