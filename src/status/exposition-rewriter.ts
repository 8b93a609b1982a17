import type { ExpositionFormat } from './exposition-format.ts';
import { familyType, rowSuffixes, type FamilyType } from './family-shape.ts';
import { type MetricGroup, mostRows, wholeMetric } from './metric-group.ts';
import { parseSample, type Sample } from './parse-sample.ts';
import { printRow } from './print-row.ts';
import { soundRow } from './sound-row.ts';
import { translateFamily } from './translate-family.ts';

/** Takes an exposition line by line, and gives what of it may stand in the answer. */
export interface ExpositionRewriter {
  line(line: string): string;
  /** What was held back for the end. */
  end(): string;
  /** How many rows were left out so far. */
  dropped(): number;
}

interface Announced {
  readonly name: string;
  type?: FamilyType;
  help?: string;
  unit?: string;
}

/** The family whose rows come now. `rows` maps the names of its rows to what follows its own name in them. */
interface Current {
  readonly sourceRows: readonly string[];
  readonly name: string;
  readonly type: FamilyType;
  readonly rows: ReadonlyMap<string, string>;
  /** What goes before the first row; empty when it has gone. */
  head: string;
  readonly series: Set<number>;
  readonly metrics: Set<number>;
  group: MetricGroup | undefined;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const comment = /^#[ \t]+(TYPE|HELP|UNIT)[ \t]+([^ \t]+)(?:[ \t]+(.*))?$/s;

/**
 * Rewrites what one source tells into the format of the answer. `taken` are the names that the answer has already, from whatever source: it grows.
 * A family whose name is taken is left out whole, and so is every row that breaks a rule of the answer's format.
 */
export function expositionRewriter(
  from: ExpositionFormat,
  to: ExpositionFormat,
  taken: Set<string>,
  allowed: (name: string) => boolean,
): ExpositionRewriter {
  let announced: Announced | undefined;
  let current: Current | undefined;
  let dropped = 0;

  const begin = (name: string, { type = 'unknown', help, unit }: Partial<Announced>): Current => {
    const sourceRows = rowSuffixes(type, from).map((suffix) => name + suffix);
    const free = translateFamily({ name, type }, from, to).find((head) => {
      const names = [head.name, ...rowSuffixes(head.type, to).map((suffix) => head.name + suffix)];
      return names.every((candidate) => !taken.has(candidate) && allowed(candidate));
    });
    const nothing = { sourceRows, series: new Set<number>(), metrics: new Set<number>(), group: undefined };
    if (free === undefined) return { ...nothing, name, type, rows: new Map(), head: '' };
    const suffixes = rowSuffixes(free.type, to);
    const word = free.type === 'unknown' && to === 'text' ? 'untyped' : free.type;
    const withUnit =
      to === 'openmetrics' && unit !== undefined && free.name.endsWith(`_${unit}`) && !['info', 'stateset'].includes(free.type);
    const head = [
      ...(help === undefined ? [] : [`# HELP ${free.name} ${helpText(help, to)}\n`]),
      `# TYPE ${free.name} ${word}\n`,
      ...(withUnit ? [`# UNIT ${free.name} ${unit}\n`] : []),
    ];
    return { ...nothing, ...free, head: head.join(''), rows: new Map(suffixes.map((suffix) => [free.name + suffix, suffix])) };
  };

  /** The first row of a family brings its head along, and takes its names. */
  const give = (family: Current, text: string): string => {
    if (family.head === '') return text;
    const { head, name, rows } = family;
    for (const row of [name, ...rows.keys()]) taken.add(row);
    family.head = '';
    return head + text;
  };

  const closeGroup = (): string => {
    if (current?.group === undefined) return '';
    const { group, type } = current;
    current.group = undefined;
    const text = wholeMetric(group, type as 'histogram' | 'gaugehistogram' | 'summary');
    if (text !== undefined) return give(current, text);
    dropped += group.rows.length;
    return '';
  };

  const close = (): string => {
    const text = closeGroup();
    current = undefined;
    return text;
  };

  const row = (sample: Sample): string => {
    let text = '';
    if (current?.sourceRows.includes(sample.name) !== true) {
      text = close();
      const known = announced !== undefined && rowSuffixes(announced.type ?? 'unknown', from).some((suffix) => sample.name === `${announced?.name ?? ''}${suffix}`); // prettier-ignore
      current = known && announced !== undefined ? begin(announced.name, announced) : begin(sample.name, {});
      announced = undefined;
    }
    const suffix = current.rows.get(sample.name);
    if (suffix === undefined || current.series.has(sample.series) || !soundRow(sample, current.name, current.type, suffix)) {
      if (suffix !== undefined || current.rows.size === 0) dropped += 1;
      return text;
    }
    current.series.add(sample.series);
    const printed = printRow(sample, current.type, suffix, from, to);
    if (to === 'text' || !['histogram', 'gaugehistogram', 'summary'].includes(current.type)) return text + give(current, printed);
    if (current.group?.key !== sample.metric) {
      text += closeGroup();
      if (current.metrics.has(sample.metric)) {
        dropped += 1; // it has ended already: its rows were to stand together
        return text;
      }
      current.metrics.add(sample.metric);
      current.group = { key: sample.metric, rows: [] };
    }
    if (current.group.rows.length <= mostRows)
      current.group.rows.push({ suffix, bound: sample.bound?.[1], value: sample.value, text: printed });
    return text;
  };

  return {
    line(line) {
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
      const sample = parseSample(line);
      if (sample !== undefined) return row(sample);
      dropped += 1;
      return '';
    },
    end: close,
    dropped: () => dropped,
  };
}

/** Unescaped as either format writes it, and escaped as the answer's does. */
function helpText(text: string, to: ExpositionFormat): string {
  const plain = text.replace(/\\([\\n"])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
  const escaped = plain.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return to === 'text' ? escaped : escaped.replaceAll('"', '\\"');
}
