/**
 * 48 bits of a text, so that two of 100,000 meet by chance in 2 of 100,000 cases. A text itself
 * would have to be held on to, and with it the piece of the answer that it was cut from. Sums do
 * not mind an order. Pure.
 */
export function hashText(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x2545f491;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
  }
  return (high & 0xffff) * 0x100000000 + (low >>> 0);
}
