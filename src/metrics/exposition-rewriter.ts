import { type ExpositionFormat, type FamilyHead, familyType, rowSuffixes, suffixOf, translateFamily } from './exposition-format.ts';
import type { AnswerText } from './answer-text.ts';
import { type BucketRows, bucketRows } from './bucket-rows.ts';
import { hashText } from './hash-text.ts';
import { numberSet } from './number-set.ts';
import { parseSample, type Sample } from './parse-sample.ts';
import { plainRow, type RowName, rowNames } from './plain-row.ts';
import { type Announced, printHead, printRow } from './print-exposition.ts';
import { boundOf, isGrouped, type MetricGroup, takeRow, soundRow, wholeMetric } from './sound-metric.ts';

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
}

/**
 * The family whose rows come now: as its source has it, and as the answer has it; `undefined` where
 * it is left out.
 */
interface Current {
  readonly source: FamilyHead;
  readonly family: FamilyHead | undefined;
  /** Of its rows that may be copied. */
  readonly names: readonly RowName[];
  /** What goes before the first row; empty when it has gone. */
  head: string;
  group: MetricGroup | undefined;
  /** Of that group. */
  buckets: BucketRows | undefined;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** In ms; in seconds. */
const timeForms = { text: /^-?\d{1,15}$/, openmetrics: /^-?\d{1,15}(?:\.\d+)?$/ } as const;
const comment = /^#[ \t]+(TYPE|HELP|UNIT)[ \t]+([^ \t]+)(?:[ \t]+(.*))?$/s;
const [lineFeed, carriageReturn, cross] = [0x0a, 0x0d, 0x23];

/**
 * Rewrites what one source tells into the format of the answer. `taken` are the hashes of the names
 * that the answer has already, from whatever source: it grows. A family whose name is taken is left
 * out whole, and so is every row that breaks a rule of the answer's format.
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
  let [dropped, rows, families] = [0, 0, 0];

  /** Of the current family: the rows that came, and the metrics that were begun. */
  const series = numberSet();
  const metrics = numberSet();
  const furtherBuckets = bucketRows();

  const isFree = ({ name, type }: FamilyHead): boolean =>
    allowed(name) &&
    !taken.has(hashText(name)) &&
    rowSuffixes(type, to).every((suffix) => suffix === '' || !taken.has(hashText(name + suffix)));

  const begin = (announced: Announced): Current => {
    const source: FamilyHead = { name: announced.name, type: announced.type ?? 'unknown' };
    const family = from === to ? (isFree(source) ? source : undefined) : translateFamily(source, from, to).find(isFree);
    if (family === undefined) return { source, family, names: [], head: '', group: undefined, buckets: undefined };
    return {
      source,
      family,
      names: rowNames(source, family, from, to),
      head: printHead(family, announced, to),
      group: undefined,
      buckets: undefined,
    };
  };

  /** The first row of a family brings its head along, and takes its names. */
  const giveHead = (now: Current, { name, type }: FamilyHead): void => {
    if (now.head === '') return;
    answer.write(now.head);
    now.head = '';
    taken.add(hashText(name));
    for (const suffix of rowSuffixes(type, to)) if (suffix !== '') taken.add(hashText(name + suffix));
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
    if (text === undefined) dropped += group.rows.length;
    else give(current, family, text);
  };

  const close = (): void => {
    closeGroup();
    current = undefined;
    series.clear();
    metrics.clear();
  };

  const row = (sample: Sample, text: Buffer, start: number): void => {
    if (current === undefined || suffixOf(sample.name, current.source, from) === undefined) {
      close();
      const known = announced !== undefined && suffixOf(sample.name, { type: 'unknown', ...announced }, from) !== undefined;
      current = begin(known && announced !== undefined ? announced : { name: sample.name });
      families += 1;
      announced = undefined;
    }
    const { family } = current;
    const suffix = family && suffixOf(sample.name, family, to);
    if (family === undefined || suffix === undefined) {
      if (family === undefined) dropped += 1; // rows that the other format does not have are no loss
      return;
    }
    const timed = sample.timestamp === undefined || timeForms[from].test(sample.timestamp);
    if (!timed || !soundRow(sample, family.name, family.type, suffix) || !series.add(sample.series)) {
      dropped += 1;
      return;
    }
    const printed = printRow(sample, family.type, suffix, from, to);
    if (to === 'text' || !isGrouped(family.type)) {
      give(current, family, printed);
      return;
    }
    if (current.group?.key !== sample.metric) {
      closeGroup();
      if (!metrics.add(sample.metric)) {
        dropped += 1; // it has ended already: its rows were to stand together
        return;
      }
      current.group = { key: sample.metric, rows: [], size: 0 };
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
      if (current === undefined) {
        families += 1;
        [current, announced] = [now, undefined];
      }
      if (end < 0) {
        dropped += 1;
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
    else dropped += 1;
    return bucket.end;
  };

  const rewrite = (text: Buffer, start: number, end: number): void => {
    const line = text.toString('utf8', start, end);
    if (line.startsWith('#')) {
      const [, word, name = '', value = ''] = comment.exec(line) ?? [];
      if (word === undefined || !metricName.test(name)) return;
      if (announced?.name !== name) {
        close();
        announced = { name };
      }
      if (word === 'TYPE') announced.type ??= familyType(value.trim(), from);
      else if (word === 'HELP') announced.help ??= value;
      else announced.unit ??= value.trim();
      return;
    }
    if (line === '') return;
    rows += 1;
    const sample = parseSample(line);
    if (sample === undefined) dropped += 1;
    else row(sample, text, start);
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
    counts: () => ({ dropped, rows, families }),
  };
}
