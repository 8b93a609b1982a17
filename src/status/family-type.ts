import type { ExpositionFormat } from './exposition-format.ts';

/** The types of OpenMetrics; the text format's `untyped` is `unknown` here. */
export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'gaugehistogram' | 'summary' | 'info' | 'stateset' | 'unknown';

/** A family without its rows. */
export interface FamilyHead {
  readonly name: string;
  readonly type: FamilyType;
}

const suffixes: Readonly<Record<ExpositionFormat, Readonly<Partial<Record<FamilyType, readonly string[]>>>>> = {
  text: { counter: [''], gauge: [''], unknown: [''], histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] },
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
export function suffixOf(row: string, { name, type }: FamilyHead, format: ExpositionFormat): string | undefined {
  if (!row.startsWith(name)) return undefined;
  return rowSuffixes(type, format).find((suffix) => row.length === name.length + suffix.length && row.endsWith(suffix));
}
