/** Returns the index of the first entry that is equal to each value. */
export const firstIndexes = <T>(values: readonly T[]): ReadonlyMap<T, number> =>
  new Map(values.map((value, index) => [value, index] as const).reverse());
