/** The format of an exposition: Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
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

/** Returns the type that a `# TYPE` line names; `unknown` if the format does not have it. */
export function familyType(word: string, format: ExpositionFormat): FamilyType {
  return Object.hasOwn(suffixes[format], word) ? (word as FamilyType) : 'unknown';
}

/** Returns what the rows of a family of this type append to its name. */
export function rowSuffixes(type: FamilyType, format: ExpositionFormat): readonly string[] {
  return suffixes[format][type] ?? [];
}

/** Returns what a row appends to the family's name; undefined if it is not a row of the family. */
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
 * Returns the forms of a family in the other format, the best first; none if the other format has
 * none. The names of rows never change: a counter of OpenMetrics is named without the `_total` of
 * its rows, and a counter whose rows have no `_total` has the type `unknown` there. Pure.
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
