/** A mistake that somebody could make, and that a test should find. */
export interface Mutant {
  /** Stays when code moves, so that reports before and after can be compared. */
  readonly id: string;
  /** Its path below src. */
  readonly file: string;
  /** A piece of one line, once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Why no test can find it, in a sentence: what comes of it is the same for everybody. */
  readonly explained?: string;
}

/**
 * The code with the mistake in it; undefined if the piece to be replaced is not there exactly once.
 */
export function mutated(code: string, { find, replace }: Mutant): string | undefined {
  const [before, after, ...more] = code.split(find);
  return before === undefined || after === undefined || more.length > 0 ? undefined : before + replace + after;
}
