import {
  type ExpositionFormat,
  type FamilyHead,
  rowSuffixes,
  suffixOf,
  translateFamily,
} from './exposition-format.ts';
import type { AnswerText } from './answer-text.ts';
import { type BucketRows, bucketRows } from './bucket-rows.ts';
import { hashText } from './hash-text.ts';
import { type LeftOut, leftOutRows } from './left-out.ts';
import { numberSet } from './number-set.ts';
import { parseSample, type Sample } from './parse-sample.ts';
import { plainRow, type RowName, rowNames } from './plain-row.ts';
import { announce, type Announced, printHead, printRow, readComment } from './print-exposition.ts';
import { sourceFamilies } from './source-families.ts';
import {
  boundOf,
  isGrouped,
  type MetricGroup,
  takeRow,
  soundRow,
  wholeMetric,
} from './sound-metric.ts';

/** Takes the lines of an exposition, and writes what of them may stand in the answer. */
export interface ExpositionRewriter {
  /**
   * Takes so many lines at most of a text that ends with the end of a line, from where one begins;
   * gives where the next one begins.
   */
  take(text: Buffer, from: number, most: number): number;
  /** Writes what was held back for the end. */
  end(): void;
  /** How many rows were left out so far, how many there were, and in how many families. */
  counts(): { readonly dropped: number; readonly rows: number; readonly families: number };
  /** The first row that was left out for each reason. */
  leftOut(): ReadonlyMap<LeftOut, string>;
}

/**
 * The family whose rows come now: as its source has it, and as the answer has it; `undefined` where
 * it is left out.
 */
interface Current {
  readonly source: FamilyHead;
  readonly family: FamilyHead | undefined;
  /** Whether rows of it were written before those of another family. */
  readonly comesAgain: boolean;
  /** Of its rows that may be copied. */
  readonly names: readonly RowName[];
  /** What goes before the first row; empty when it has gone. */
  head: string;
  group: MetricGroup | undefined;
  /** Of that group. */
  buckets: BucketRows | undefined;
}

/** In ms; in seconds. */
const timeForms = { text: /^-?\d{1,15}$/, openmetrics: /^-?\d{1,15}(?:\.\d+)?$/ } as const;
const [lineFeed, carriageReturn, cross] = [0x0a, 0x0d, 0x23];

/**
 * Rewrites what one source tells into the format of the answer. `taken` are the hashes of the names
 * that the answer has already, from whatever source: it grows. A family whose name is taken is left
 * out whole, and so is every row that breaks a rule of the answer's format. The rows of a family
 * that its source interrupts by another are written where they come: Prometheus takes them.
 *
 * Most rows are copied as they came ({@link plainRow}); the others are read as text, and printed.
 */
export function expositionRewriter(
  from: ExpositionFormat,
  to: ExpositionFormat,
  taken: Set<number>,
  allowed: (name: string) => boolean,
  answer: AnswerText,
): ExpositionRewriter {
  let announced: Announced | undefined;
  let current: Current | undefined;
  let rows = 0;

  /** Of the whole source: the rows that came, and the metrics that were begun. */
  const series = numberSet();
  const metrics = numberSet();
  const families = sourceFamilies(from);
  const { drop, ...left } = leftOutRows();
  const furtherBuckets = bucketRows();

  const isFree = ({ name, type }: FamilyHead): boolean =>
    allowed(name) &&
    !taken.has(hashText(name)) &&
    rowSuffixes(type, to).every((suffix) => suffix === '' || !taken.has(hashText(name + suffix)));

  const begin = (announced: Announced): Current => {
    const before = families.named(announced.name);
    const source = before?.source ?? { name: announced.name, type: announced.type ?? 'unknown' };
    const family = before?.family ?? translateFamily(source, from, to).find(isFree);
    return {
      source,
      family,
      comesAgain: before !== undefined,
      names: family === undefined ? [] : rowNames(source, family, from, to),
      head: family === undefined || before !== undefined ? '' : printHead(family, announced, to),
      group: undefined,
      buckets: undefined,
    };
  };

  const enter = (now: Current): Current => {
    if (!now.comesAgain) families.count();
    [current, announced] = [now, undefined];
    return now;
  };

  /** The family of a row that is not of the current one. */
  const familyOf = ({ name }: Sample): Current => {
    const isAnnounced =
      announced !== undefined &&
      suffixOf(name, { type: 'unknown', ...announced }, from) !== undefined;
    const now = begin(
      isAnnounced && announced !== undefined
        ? announced
        : (families.owning(name)?.source ?? { name }),
    );
    return suffixOf(name, now.source, from) === undefined ? begin({ name }) : now;
  };

  /** The first row of a family brings its head along, and takes its names. */
  const giveHead = (now: Current, { name, type }: FamilyHead): void => {
    if (now.head === '') return;
    answer.write(now.head);
    now.head = '';
    families.add({ source: now.source, family: now.family ?? now.source });
    taken.add(hashText(name));
    for (const suffix of rowSuffixes(type, to))
      if (suffix !== '') taken.add(hashText(name + suffix));
  };

  const give = (now: Current, family: FamilyHead, text: string): void => {
    giveHead(now, family);
    answer.write(text);
  };

  const closeGroup = (): void => {
    if (current?.group === undefined || current.family === undefined) return;
    const { group, family } = current;
    current.group = undefined;
    current.buckets = undefined;
    const text = wholeMetric(group, family.type);
    if (text === undefined) drop('not-whole', () => group.rows[0]?.text ?? '', group.rows.length);
    else give(current, family, text);
  };

  const close = (): void => {
    closeGroup();
    current = undefined;
  };

  const row = (sample: Sample, text: Buffer, start: number, line: () => string): void => {
    if (current === undefined || suffixOf(sample.name, current.source, from) === undefined) {
      close();
      current = enter(familyOf(sample));
    }
    const { family } = current;
    const suffix = family && suffixOf(sample.name, family, to);
    if (family === undefined || suffix === undefined) {
      if (family === undefined) drop('taken', line); // rows that the other format does not have are no loss
      return;
    }
    const { timestamp } = sample;
    const timed =
      timestamp === undefined ||
      (timeForms[from].test(timestamp) && !(to === 'text' && timestamp.startsWith('-')));
    if (!timed || !soundRow(sample, family.name, family.type, suffix, to)) {
      drop(timed ? 'value' : 'time', line);
      return;
    }
    if (!series.add(sample.series)) {
      drop('again', line);
      return;
    }
    const printed = printRow(sample, family.type, suffix, from, to);
    if (to === 'text' || !isGrouped(family.type)) {
      give(current, family, printed);
      return;
    }
    const metric = sample.metric + hashText(family.name);
    if (current.group?.key !== metric) {
      closeGroup();
      if (!metrics.add(metric)) {
        drop('apart', line); // it has ended already: its rows were to stand together
        return;
      }
      current.group = { key: metric, rows: [], size: 0 };
    }
    const bound = sample.bound === undefined ? NaN : boundOf(sample.bound[1]);
    takeRow(current.group, { suffix, bound, value: Number(sample.value), text: printed });
    if (suffix === '_bucket') current.buckets ??= furtherBuckets(sample, text, start);
  };

  /** Copies the row that begins there, if it can be; gives where the next line begins, or 0. */
  const copyRow = (text: Buffer, start: number): number => {
    const now = current ?? (announced && begin(announced));
    if (now?.family === undefined) return 0;
    for (const name of now.names) {
      const end = plainRow(text, start, name, series);
      if (end === 0) continue;
      rows += 1;
      if (current === undefined) enter(now);
      if (end < 0) {
        drop('again', () => text.toString('utf8', start, -end));
        return -end;
      }
      giveHead(now, now.family);
      answer.copy(text, start, end);
      return end;
    }
    return 0;
  };

  /** Takes a bucket that is like the one before; gives where the next line begins, or 0. */
  const takeBucket = (text: Buffer, start: number): number => {
    const { buckets, group } = current ?? {};
    const bucket = buckets?.(text, start);
    if (bucket === undefined || group === undefined) return 0;
    rows += 1;
    if (series.add(bucket.series)) takeRow(group, bucket.row);
    else drop('again', () => text.toString('utf8', start, bucket.end));
    return bucket.end;
  };

  const rewrite = (text: Buffer, start: number, end: number): void => {
    const line = text.toString('utf8', start, end);
    const first = line.trimStart();
    if (first.startsWith('#')) {
      const comment = readComment(first);
      if (comment === undefined) return;
      if (announced?.name !== comment.name) {
        close();
        announced = { name: comment.name };
      }
      announce(announced, comment, from);
      return;
    }
    if (first === '') return;
    rows += 1;
    const sample = parseSample(line);
    if (sample === undefined) drop('form', () => line);
    else row(sample, text, start, () => line);
  };

  return {
    take(text, start, most) {
      let at = start;
      for (let lines = 0; lines < most && at < text.length; lines++) {
        const next = text[at] === cross ? 0 : takeBucket(text, at) || copyRow(text, at);
        if (next > 0) {
          at = next;
          continue;
        }
        const end = text.indexOf(lineFeed, at);
        rewrite(text, at, text[end - 1] === carriageReturn && end > at ? end - 1 : end);
        at = end + 1;
      }
      return at;
    },
    end: close,
    counts: () => ({ dropped: left.count(), rows, families: families.size() }),
    leftOut: left.first,
  };
}
