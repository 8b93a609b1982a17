import type { AnswerText } from './answer-text.ts';
import type { BucketRows } from './bucket-rows.ts';
import {
  type ExpositionFormat,
  type FamilyHead,
  rowSuffixes,
  suffixOf,
  translateFamily,
} from './exposition-format.ts';
import { hashText } from './hash-text.ts';
import { type RowName, rowNames } from './plain-row.ts';
import { announce, type Announced, type Comment, printHead } from './print-exposition.ts';
import type { MetricGroup } from './sound-metric.ts';
import { type SourceFamilies, sourceFamilies } from './source-families.ts';

/**
 * The family whose rows come now, in its source and in the answer; `undefined` if it is left out.
 */
export interface Current {
  readonly source: FamilyHead;
  readonly family: FamilyHead | undefined;
  /** Rows of it were already written, before those of another family. */
  readonly comesAgain: boolean;
  /** The names of its rows that may be copied. */
  readonly names: readonly RowName[];
  /** The text before the first row; empty once it is written. */
  head: string;
  group: MetricGroup | undefined;
  /** Reads further buckets of that group. */
  buckets: BucketRows | undefined;
}

/** The two formats, and the names that the answer may contain. */
export interface Rewriting {
  readonly from: ExpositionFormat;
  readonly to: ExpositionFormat;
  /** The hashes of the names that the answer already contains, from any source: it grows. */
  readonly usedNames: Set<number>;
  readonly allowed: (name: string) => boolean;
  readonly answer: AnswerText;
}

/** The families of one source, one after the other, with their heads in the answer. */
export class RewrittenFamilies {
  /** Undefined between two families. */
  current: Current | undefined;
  #announced: Announced | undefined;
  readonly #rewriting: Rewriting;
  readonly #families: SourceFamilies;

  constructor(rewriting: Rewriting) {
    this.#rewriting = rewriting;
    this.#families = sourceFamilies(rewriting.from);
  }

  /** Returns the number of families so far. */
  size(): number {
    return this.#families.size();
  }

  /** Takes a comment. Calls `closing` first if the comment announces another family. */
  announce(comment: Comment, closing: () => void): void {
    if (this.#announced?.name !== comment.name) {
      closing();
      this.#announced = { name: comment.name };
    }
    announce(this.#announced, comment, this.#rewriting.from);
  }

  /** Returns the family whose rows may come without another comment; undefined for none. */
  next(): Current | undefined {
    return this.current ?? (this.#announced && this.#begin(this.#announced));
  }

  enter(now: Current): Current {
    if (!now.comesAgain) this.#families.count();
    this.current = now;
    this.#announced = undefined;
    return now;
  }

  /** Returns the family of a row that does not belong to the current one. */
  owning(name: string): Current {
    const { from } = this.#rewriting;
    const announced = this.#announced;
    const isAnnounced =
      announced !== undefined &&
      suffixOf(name, { type: 'unknown', ...announced }, from) !== undefined;
    const now = this.#begin(
      isAnnounced ? announced : (this.#families.owning(name)?.source ?? { name }),
    );
    return suffixOf(name, now.source, from) === undefined ? this.#begin({ name }) : now;
  }

  /** Writes the head of a family before its first row, and takes its names. */
  giveHead(now: Current, { name, type }: FamilyHead): void {
    if (now.head === '') return;
    const { to, usedNames, answer } = this.#rewriting;
    answer.write(now.head);
    now.head = '';
    this.#families.add({ source: now.source, family: now.family ?? now.source });
    usedNames.add(hashText(name));
    for (const suffix of rowSuffixes(type, to))
      if (suffix !== '') usedNames.add(hashText(name + suffix));
  }

  #begin(announced: Announced): Current {
    const { from, to } = this.#rewriting;
    const before = this.#families.named(announced.name);
    const source = before?.source ?? { name: announced.name, type: announced.type ?? 'unknown' };
    const family =
      before?.family ?? translateFamily(source, from, to).find((head) => this.#isFree(head));
    return {
      source,
      family,
      comesAgain: before !== undefined,
      names: family === undefined ? [] : rowNames(source, family, from, to),
      head: family === undefined || before !== undefined ? '' : printHead(family, announced, to),
      group: undefined,
      buckets: undefined,
    };
  }

  #isFree({ name, type }: FamilyHead): boolean {
    const { to, usedNames, allowed } = this.#rewriting;
    return (
      allowed(name) &&
      !usedNames.has(hashText(name)) &&
      rowSuffixes(type, to).every(
        (suffix) => suffix === '' || !usedNames.has(hashText(name + suffix)),
      )
    );
  }
}
