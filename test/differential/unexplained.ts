/** A difference that is known: where it is, and why. */
export type Deviation = readonly [where: RegExp, why: string];

/**
 * The differences that no deviation explains. The first deviation that explains one is added to
 * `explained`, so that one that explains nothing can be found.
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

/** Why there are the deviations that have explained nothing. */
export function needless(
  deviations: readonly Deviation[],
  explained: ReadonlySet<RegExp>,
): readonly string[] {
  return deviations.filter(([where]) => !explained.has(where)).map(([, why]) => why);
}
