import * as fc from 'fast-check';

/** A parser of something that comes from outside. */
interface Parser<Input> {
  readonly name: string;
  /** Inputs. Some are like real ones, some are not. */
  readonly inputs: fc.Arbitrary<Input>;
  /**
   * Reads an input. It refuses an input by its result: an exception is a mistake. It may return a
   * promise.
   */
  readonly parse: (input: Input) => unknown;
  /**
   * Inputs that grow with their size, by shape. `size` is the size that a shape begins with; 1,000
   * if left out.
   */
  readonly growing: Readonly<Record<string, (size: number) => Input>>;
  readonly size?: number;
}

/** A parser of any kind of input. */
export interface FuzzedParser {
  readonly name: string;
  /** The property that no input makes it throw. */
  readonly takesAll: fc.IAsyncProperty<[unknown]>;
  readonly growing: readonly {
    readonly shape: string;
    readonly size: number;
    /** Makes an input. The returned function reads it. */
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

/**
 * Makes texts of these pieces and of other characters. The pieces of a grammar come in any order.
 */
export function textOf(...pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pieces) },
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  return fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
}
