/**
 * The middle of an odd number of values, the upper one of the two middle ones of an even number.
 */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
