import * as fc from 'fast-check';

/** What reads something that comes from outside. */
interface Parser<Input> {
  readonly name: string;
  /** Some like real ones, some like nothing. */
  readonly inputs: fc.Arbitrary<Input>;
  /** Refuses by its result: an exception is a mistake. It may take its time by a promise. */
  readonly parse: (input: Input) => unknown;
  /** Inputs that grow with their size: `size` is what a shape begins with, if it is not 1,000. */
  readonly growing: Readonly<Record<string, (size: number) => Input>>;
  readonly size?: number;
}

/** A parser, whatever it reads. */
export interface FuzzedParser {
  readonly name: string;
  /** That no input makes it throw. */
  readonly takesAll: fc.IAsyncProperty<[unknown]>;
  readonly growing: readonly {
    readonly shape: string;
    readonly size: number;
    /** Makes an input; what comes back reads it. */
    readonly at: (size: number) => () => unknown;
  }[];
}

export function fuzzed<Input>({
  name,
  inputs,
  parse,
  growing,
  size = 1_000,
}: Parser<Input>): FuzzedParser {
  return {
    name,
    takesAll: fc.asyncProperty(inputs, async (input) => {
      await parse(input);
    }),
    growing: Object.entries(growing).map(([shape, inputOf]) => ({
      shape,
      size,
      at: (times: number) => {
        const input = inputOf(times);
        return () => parse(input);
      },
    })),
  };
}

/** Texts of these pieces, and of anything else: what a grammar is made of comes in any order. */
export function textOf(...pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pieces) },
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  return fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
}
