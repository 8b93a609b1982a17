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
 * The family whose rows come now: as its source has it, and as the answer has it; `undefined` where
 * it is left out.
 */
export interface Current {
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

/** From one format to another, and what the answer may have. */
export interface Rewriting {
  readonly from: ExpositionFormat;
  readonly to: ExpositionFormat;
  /** The hashes of the names that the answer has already, from whatever source: it grows. */
  readonly taken: Set<number>;
  readonly allowed: (name: string) => boolean;
  readonly answer: AnswerText;
}

/** The families of one source, one after the other, and their heads in the answer. */
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

  /** How many there were. */
  size(): number {
    return this.#families.size();
  }

  /** Takes a comment. `closing` is called before if it announces another family. */
  announce(comment: Comment, closing: () => void): void {
    if (this.#announced?.name !== comment.name) {
      closing();
      this.#announced = { name: comment.name };
    }
    announce(this.#announced, comment, this.#rewriting.from);
  }

  /** The family of which rows may come without being named anew; undefined for none. */
  next(): Current | undefined {
    return this.current ?? (this.#announced && this.#begin(this.#announced));
  }

  enter(now: Current): Current {
    if (!now.comesAgain) this.#families.count();
    this.current = now;
    this.#announced = undefined;
    return now;
  }

  /** The family of a row that is not of the current one. */
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

  /** The first row of a family brings its head along, and takes its names. */
  giveHead(now: Current, { name, type }: FamilyHead): void {
    if (now.head === '') return;
    const { to, taken, answer } = this.#rewriting;
    answer.write(now.head);
    now.head = '';
    this.#families.add({ source: now.source, family: now.family ?? now.source });
    taken.add(hashText(name));
    for (const suffix of rowSuffixes(type, to))
      if (suffix !== '') taken.add(hashText(name + suffix));
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
    const { to, taken, allowed } = this.#rewriting;
    return (
      allowed(name) &&
      !taken.has(hashText(name)) &&
      rowSuffixes(type, to).every((suffix) => suffix === '' || !taken.has(hashText(name + suffix)))
    );
  }
}
