import { type ExpositionFormat, type FamilyHead, suffixOf } from './exposition-format.ts';
import { hashText } from './hash-text.ts';

/** A family in its source, and in the answer. */
interface WrittenFamily {
  readonly source: FamilyHead;
  readonly family: FamilyHead;
}

/** The families of one source with written rows, so that further rows find them. */
export interface SourceFamilies {
  /** Remembers a family whose head was written. */
  add(written: WrittenFamily): void;
  named(name: string): WrittenFamily | undefined;
  /** Returns the family that has a row of this name. */
  owning(row: string): WrittenFamily | undefined;
  /** Counts one more family, whether or not its rows are written. */
  count(): void;
  /** Returns the number of families so far. */
  size(): number;
}

const suffixes = [
  '',
  '_bucket',
  '_sum',
  '_count',
  '_total',
  '_created',
  '_info',
  '_gsum',
  '_gcount',
];

export function sourceFamilies(format: ExpositionFormat): SourceFamilies {
  const written = new Map<number, WrittenFamily>();
  let begun = 0;
  return {
    add(family) {
      written.set(hashText(family.source.name), family);
    },
    named: (name) => written.get(hashText(name)),
    owning(row) {
      if (written.size === 0) return undefined;
      for (const suffix of suffixes) {
        if (!row.endsWith(suffix)) continue;
        const family = written.get(hashText(row.slice(0, row.length - suffix.length)));
        if (family !== undefined && suffixOf(row, family.source, format) !== undefined)
          return family;
      }
      return undefined;
    },
    count: () => void (begun += 1),
    size: () => begun,
  };
}
