/** A known difference: a pattern for its place, and its reason. */
export type Deviation = readonly [where: RegExp, why: string];

/**
 * Returns the differences that no deviation explains. Adds the first deviation that explains a
 * difference to `explained`, so that a deviation that explains nothing can be found.
 */
export function unexplained(
  differences: readonly string[],
  deviations: readonly Deviation[],
  explained: Set<RegExp>,
): readonly string[] {
  return differences.filter((difference) => {
    const deviation = deviations.find(([where]) => where.test(difference));
    if (deviation !== undefined) explained.add(deviation[0]);
    return deviation === undefined;
  });
}

/** Returns the reasons of the deviations that have explained nothing. */
export function needless(
  deviations: readonly Deviation[],
  explained: ReadonlySet<RegExp>,
): readonly string[] {
  return deviations.filter(([where]) => !explained.has(where)).map(([, why]) => why);
}
