/**
 * Returns a hash of 48 bits, so that two of 100,000 texts have the same one in 2 of 100,000 cases.
 * A stored text would keep the piece of the answer in memory that it was cut from. Sums of hashes
 * do not depend on their order. Pure.
 */
export function hashText(text: string): number {
  let { low, high } = begun;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = stirLow(low, code);
    high = stirHigh(high, code);
  }
  return wholeHash(low, high);
}

/** The hash of no text. Code that has bytes adds them to the two halves one by one. */
export const begun: { readonly low: number; readonly high: number } = {
  low: 0x811c9dc5,
  high: 0x2545f491,
};

export function stirLow(low: number, code: number): number {
  return Math.imul(low ^ code, 0x01000193);
}

export function stirHigh(high: number, code: number): number {
  return Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
}

export function wholeHash(low: number, high: number): number {
  return (high & 0xffff) * 0x100000000 + (low >>> 0);
}
