/** A mistake that a person could make, and that a test should find. */
export type Mutant = PlacedMutant | DrawnMutant;

/** A mistake that a person has chosen. */
export interface PlacedMutant {
  /** The id stays the same when code moves, so that reports before and after can be compared. */
  readonly id: string;
  /** Its path below src. */
  readonly file: string;
  /** A piece of one line, once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The reason why no test can find it, in a sentence: the result is the same for everyone. */
  readonly explained?: string;
}

/** A mistake that is drawn from all mistakes of one word. */
export interface DrawnMutant {
  readonly id: string;
  /** Its path below src. */
  readonly file: string;
  /**
   * The replaced piece of the file: the place of its first character, and the place after its last
   * one.
   */
  readonly start: number;
  readonly end: number;
  readonly replace: string;
}

/**
 * Returns the code with the mistake in it; undefined if the piece of a placed mutant is not in the
 * code exactly once.
 */
export function mutated(code: string, mutant: Mutant): string | undefined {
  if ('start' in mutant)
    return code.slice(0, mutant.start) + mutant.replace + code.slice(mutant.end);
  const { find, replace } = mutant;
  const [place, ...more] = code.matchAll(wrapped(find));
  return place === undefined || more.length > 0
    ? undefined
    : code.slice(0, place.index) + replace + code.slice(place.index + place[0].length);
}

/**
 * Returns a pattern for a text, however the formatter wraps it: spaces, and a comma before a
 * closing bracket, may differ.
 */
function wrapped(text: string): RegExp {
  const tokens = text.match(/\s*[)\]}]|\s+|\w+|[^\w\s]/g) ?? [];
  const pattern = tokens.map((token) => {
    if (token.trim() === '') return '\\s+';
    const literal = token.trim().replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    if (/[)\]}]/.test(token)) return `,?\\s*${literal}`;
    return /[([{.?]/.test(token) ? `\\s*${literal}\\s*` : literal;
  });
  return new RegExp(pattern.join(''), 'g');
}
