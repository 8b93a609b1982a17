/** How metrics are written down: Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** The types of OpenMetrics; the text format's `untyped` is `unknown` here. */
export type FamilyType =
  | 'counter'
  | 'gauge'
  | 'histogram'
  | 'gaugehistogram'
  | 'summary'
  | 'info'
  | 'stateset'
  | 'unknown';

/** A family without its rows. */
export interface FamilyHead {
  readonly name: string;
  readonly type: FamilyType;
}

const suffixes: Readonly<
  Record<ExpositionFormat, Readonly<Partial<Record<FamilyType, readonly string[]>>>>
> = {
  text: {
    counter: [''],
    gauge: [''],
    unknown: [''],
    histogram: ['_bucket', '_sum', '_count'],
    summary: ['', '_sum', '_count'],
  },
  openmetrics: {
    counter: ['_total', '_created'],
    gauge: [''],
    unknown: [''],
    stateset: [''],
    info: ['_info'],
    histogram: ['_bucket', '_sum', '_count', '_created'],
    gaugehistogram: ['_bucket', '_gsum', '_gcount'],
    summary: ['', '_sum', '_count', '_created'],
  },
};

/** The type that a `# TYPE` line names; one that the format does not have counts as unknown. */
export function familyType(word: string, format: ExpositionFormat): FamilyType {
  return Object.hasOwn(suffixes[format], word) ? (word as FamilyType) : 'unknown';
}

/** What follows the name of a family of this type in the names of its rows. */
export function rowSuffixes(type: FamilyType, format: ExpositionFormat): readonly string[] {
  return suffixes[format][type] ?? [];
}

/** What follows the family's name in the name of a row of it; undefined if it is none. */
export function suffixOf(
  row: string,
  { name, type }: FamilyHead,
  format: ExpositionFormat,
): string | undefined {
  if (!row.startsWith(name)) return undefined;
  return rowSuffixes(type, format).find(
    (suffix) => row.length === name.length + suffix.length && row.endsWith(suffix),
  );
}

/**
 * What a family becomes in the other format, the best first; none where the other format has
 * nothing for it. The names of rows never change: a counter of OpenMetrics is named without the
 * `_total` of its rows, and one whose rows have no `_total` is unknown there. Pure.
 */
export function translateFamily(
  { name, type }: FamilyHead,
  from: ExpositionFormat,
  to: ExpositionFormat,
): readonly FamilyHead[] {
  if (from === to) return [{ name, type }];
  if (to === 'openmetrics') {
    if (type !== 'counter') return [{ name, type }];
    const unknown: FamilyHead = { name, type: 'unknown' };
    return name.endsWith('_total') && name !== '_total'
      ? [{ name: name.slice(0, -'_total'.length), type }, unknown]
      : [unknown];
  }
  switch (type) {
    case 'counter':
      return [{ name: `${name}_total`, type }];
    case 'info':
      return [{ name: `${name}_info`, type: 'gauge' }];
    case 'stateset':
      return [{ name, type: 'gauge' }];
    case 'gaugehistogram':
      return [];
    default:
      return [{ name, type }];
  }
}
