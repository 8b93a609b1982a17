import { type ExpositionFormat, type FamilyHead, familyType, rowSuffixes, suffixOf, translateFamily } from './exposition-format.ts';
import { hashText } from './hash-text.ts';
import { parseSample, type Sample } from './parse-sample.ts';
import { type Announced, printHead, printRow } from './print-exposition.ts';
import { isGrouped, type MetricGroup, takeRow, soundRow, wholeMetric } from './sound-metric.ts';

/** Takes the lines of an exposition, and gives what of them may stand in the answer. */
export interface ExpositionRewriter {
  lines(lines: readonly string[]): string;
  /** What was held back for the end. */
  end(): string;
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
  /** What goes before the first row; empty when it has gone. */
  head: string;
  group: MetricGroup | undefined;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** In ms; in seconds. */
const timeForms = { text: /^-?\d{1,15}$/, openmetrics: /^-?\d{1,15}(?:\.\d+)?$/ } as const;
const comment = /^#[ \t]+(TYPE|HELP|UNIT)[ \t]+([^ \t]+)(?:[ \t]+(.*))?$/s;

/**
 * Rewrites what one source tells into the format of the answer. `taken` are the hashes of the names
 * that the answer has already, from whatever source: it grows. A family whose name is taken is left
 * out whole, and so is every row that breaks a rule of the answer's format.
 */
export function expositionRewriter(
  from: ExpositionFormat,
  to: ExpositionFormat,
  taken: Set<number>,
  allowed: (name: string) => boolean,
): ExpositionRewriter {
  let announced: Announced | undefined;
  let current: Current | undefined;
  let [dropped, rows, families] = [0, 0, 0];

  /** Of the current family: the rows that came, and the metrics that were begun. */
  const series = new Set<number>();
  const metrics = new Set<number>();

  const isFree = ({ name, type }: FamilyHead): boolean =>
    allowed(name) &&
    !taken.has(hashText(name)) &&
    rowSuffixes(type, to).every((suffix) => suffix === '' || !taken.has(hashText(name + suffix)));

  const begin = (announced: Announced): Current => {
    families += 1;
    const source: FamilyHead = { name: announced.name, type: announced.type ?? 'unknown' };
    const family = from === to ? (isFree(source) ? source : undefined) : translateFamily(source, from, to).find(isFree);
    if (family === undefined) return { source, family, head: '', group: undefined };
    return { source, family, head: printHead(family, announced, to), group: undefined };
  };

  /** The first row of a family brings its head along, and takes its names. */
  const give = (now: Current, { name, type }: FamilyHead, text: string): string => {
    if (now.head === '') return text;
    const { head } = now;
    now.head = '';
    taken.add(hashText(name));
    for (const suffix of rowSuffixes(type, to)) if (suffix !== '') taken.add(hashText(name + suffix));
    return head + text;
  };

  const closeGroup = (): string => {
    if (current?.group === undefined || current.family === undefined) return '';
    const { group, family } = current;
    current.group = undefined;
    const text = wholeMetric(group, family.type);
    if (text !== undefined) return give(current, family, text);
    dropped += group.rows.length;
    return '';
  };

  const close = (): string => {
    const text = closeGroup();
    current = undefined;
    if (series.size > 0) series.clear();
    if (metrics.size > 0) metrics.clear();
    return text;
  };

  const row = (sample: Sample): string => {
    let text = '';
    if (current === undefined || suffixOf(sample.name, current.source, from) === undefined) {
      text = close();
      const known = announced !== undefined && suffixOf(sample.name, { type: 'unknown', ...announced }, from) !== undefined;
      current = begin(known && announced !== undefined ? announced : { name: sample.name });
      announced = undefined;
    }
    const { family } = current;
    const suffix = family && suffixOf(sample.name, family, to);
    if (family === undefined || suffix === undefined) {
      if (family === undefined) dropped += 1; // rows that the other format does not have are no loss
      return text;
    }
    const timed = sample.timestamp === undefined || timeForms[from].test(sample.timestamp);
    if (!timed || series.has(sample.series) || !soundRow(sample, family.name, family.type, suffix)) {
      dropped += 1;
      return text;
    }
    series.add(sample.series);
    const printed = printRow(sample, family.type, suffix, from, to);
    if (to === 'text' || !isGrouped(family.type)) return text + give(current, family, printed);
    if (current.group?.key !== sample.metric) {
      text += closeGroup();
      if (metrics.has(sample.metric)) {
        dropped += 1; // it has ended already: its rows were to stand together
        return text;
      }
      metrics.add(sample.metric);
      current.group = { key: sample.metric, rows: [], size: 0 };
    }
    takeRow(current.group, { suffix, bound: sample.bound?.[1], value: sample.value, text: printed });
    return text;
  };

  const rewrite = (line: string): string => {
    if (line.startsWith('#')) {
      const [, word, name = '', value = ''] = comment.exec(line) ?? [];
      if (word === undefined || !metricName.test(name)) return '';
      const text = announced?.name === name ? '' : close();
      if (announced?.name !== name) announced = { name };
      if (word === 'TYPE') announced.type ??= familyType(value.trim(), from);
      else if (word === 'HELP') announced.help ??= value;
      else announced.unit ??= value.trim();
      return text;
    }
    if (line === '') return '';
    rows += 1;
    const sample = parseSample(line);
    if (sample !== undefined) return row(sample);
    dropped += 1;
    return '';
  };

  return {
    lines: (lines) => lines.map(rewrite).join(''),
    end: close,
    counts: () => ({ dropped, rows, families }),
  };
}
