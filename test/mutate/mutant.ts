/** A mistake that somebody could make, and that a test should find. */
export type Mutant = PlacedMutant | DrawnMutant;

/** A mistake that a person has chosen. */
export interface PlacedMutant {
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

/** A mistake that is drawn from all that one word can make. */
export interface DrawnMutant {
  readonly id: string;
  /** Its path below src. */
  readonly file: string;
  /** The piece of the file that is replaced: its first character, and the one behind it. */
  readonly start: number;
  readonly end: number;
  readonly replace: string;
}

/**
 * The code with the mistake in it; undefined if the piece to be replaced is not there exactly once.
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

/** A text however the formatter wraps it: blanks, and a comma before a bracket that closes. */
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
