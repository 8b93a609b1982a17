import * as fc from 'fast-check';

/**
 * Makes byte strings from these: up to four bytes are changed, and the end is cut off or has up to
 * 100 zeros more.
 */
export function changedBytes(...originals: readonly Buffer[]): fc.Arbitrary<Buffer> {
  return fc
    .record({
      bytes: fc.constantFrom(...originals),
      changes: fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 4 }),
      length: fc.option(fc.nat(), { freq: 5, nil: undefined }),
    })
    .map(({ bytes, changes, length }) => {
      const copy = Buffer.concat([bytes, Buffer.alloc(100)]);
      for (const [place, byte] of changes) copy[place % bytes.length] = byte;
      return copy.subarray(0, length === undefined ? bytes.length : length % (copy.length + 1));
    });
}
